// needs: core reduce
struct Prod {
  template <class T> HELPER T combine(T a, T b) { return a * b; }
};
struct Any {
  template <class T> HELPER T combine(T a, T b) { return a || b; }
};
struct All {
  template <class T> HELPER T combine(T a, T b) { return a && b; }
};
// Op over body(i) for i in [begin, end), element by element: halves are combined pairwise, so that
// the error of a long sum grows with the logarithm of its length.
template <class Op, class T, class F> static T reduce_each(long begin, long end, T init, F body) {
  if (end - begin > 256) {
    const long half = (end - begin) / 2, cut = begin + half - half % 8;
    return Op::combine(reduce_each<Op>(begin, cut, init, body),
                       reduce_each<Op>(cut, end, init, body));
  }
  T part[8] = {init, init, init, init, init, init, init, init};
  long i = begin;
  for (; i + 8 <= end; i += 8)
    for (int k = 0; k < 8; ++k) part[k] = Op::combine(part[k], T(body(i + k)));
  for (int k = 0; i < end; ++i, ++k) part[k] = Op::combine(part[k], T(body(i)));
  for (int step = 4; step; step /= 2)
    for (int k = 0; k < step; ++k) part[k] = Op::combine(part[k], part[k + step]);
  return part[0];
}
