// needs: core combine
struct Prod {
  static constexpr bool rounds = true;
  template <class T> HELPER T combine(T a, T b) { return a * b; }
};
struct Any {
  static constexpr bool rounds = false;
  template <class T> HELPER T combine(T a, T b) { return a || b; }
};
struct All {
  static constexpr bool rounds = false;
  template <class T> HELPER T combine(T a, T b) { return a && b; }
};
// Elements of any type side by side: the compiler makes vectors of the loops over an array, which
// lives in registers between them.
template <class T> struct Group {
  typedef T Lane __attribute__((vector_size(4 * W), may_alias, aligned(1)));
  static constexpr int width = sizeof(T) < 4 ? 4 * W : W;
  static constexpr int per = 4 * W / sizeof(T), count = width / per;
  Lane of[count];
  INLINE void put(const T* all) {
    each<count>([&](auto i) INLINE { of[i] = ((const Lane*)all)[i]; });
  }
  INLINE void get(T* all) const {
    each<count>([&](auto i) INLINE { ((Lane*)all)[i] = of[i]; });
  }
  INLINE void fill(T a) {
    T all[width];
    for (int k = 0; k < width; ++k) all[k] = a;
    put(all);
  }
  // Op of each lane and body(k), for all lanes or for the first n.
  template <class Op, class F> INLINE void take(F body) {
    T all[width];
    get(all);
#pragma omp simd
    for (int k = 0; k < width; ++k) all[k] = Op::combine(all[k], T(body(k)));
    put(all);
  }
  template <class Op, class F> INLINE void take(long n, F body) {
    T all[width];
    get(all);
    for (int k = 0; k < n; ++k) all[k] = Op::combine(all[k], T(body(k)));
    put(all);
  }
  template <class Op> INLINE void combine(const Group& b) {
    T all[width];
    b.get(all);
    take<Op>([&](int k) INLINE { return all[k]; });
  }
  template <class Op> INLINE T fold() const {
    T all[width];
    get(all);
#pragma GCC unroll 8
    for (int step = width / 2; step; step /= 2)
      for (int k = 0; k < step; ++k) all[k] = Op::combine(all[k], all[k + step]);
    return all[0];
  }
};
// bool is a byte that is 0 or 1.
template <class T> struct Element { typedef T Type; };
template <> struct Element<bool> { typedef unsigned char Type; };

// Op over body(i) for i in [begin, end): N groups of lanes, and halves combined pairwise, so that
// the error of a long sum grows with the logarithm of its length.
template <class Op, int N, class T, class F>
static T reduce_groups(long begin, long end, T init, F& body) {
  typedef Group<T> G;
  if (end - begin > 32 * N * G::width) {
    const long half = (end - begin) / 2, cut = begin + half - half % (N * G::width);
    return Op::combine(reduce_groups<Op, N>(begin, cut, init, body),
                       reduce_groups<Op, N>(cut, end, init, body));
  }
  G part[N];
  each<N>([&](auto n) INLINE { part[n].fill(init); });
  long i = begin;
  for (; i + N * G::width <= end; i += N * G::width)
    each<N>([&](auto n) INLINE {
      part[n].template take<Op>([&](int k) INLINE { return body(i + n * G::width + k); });
    });
  for (; i + G::width <= end; i += G::width)
    part[0].template take<Op>([&](int k) INLINE { return body(i + k); });
  part[0].template take<Op>(end - i, [&](int k) INLINE { return body(i + k); });
  each<N - 1>([&](auto n) INLINE { part[0].template combine<Op>(part[n + 1]); });
  return part[0].template fold<Op>();
}
template <class Op, class T, class F> HELPER T reduce_each(long begin, long end, T init, F body) {
  typedef typename Element<T>::Type E;
  return reduce_groups<Op, sizeof(E) < 4 ? 2 : 4, E>(begin, end, init, body);
}
