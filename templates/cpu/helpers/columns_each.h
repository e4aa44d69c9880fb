// needs: team reduce_each
// to[col] = Op over to[col] and body(row, col) for a few rows.
template <class Op, class T, class F>
HELPER void run_each(long begin, long end, long width, T* to, F& body) {
  typedef Group<T> G;
  long first = 0;
  for (; first + G::width <= width; first += G::width) {
    G run;
    run.put(to + first);
    for (long row = begin; row < end; ++row)
      run.template take<Op>([&](int k) INLINE { return body(row, first + k); });
    run.get(to + first);
  }
  for (long row = begin; first < width && row < end; ++row)
    for (long col = first; col < width; ++col) to[col] = Op::combine(to[col], T(body(row, col)));
}
// Op over body(row, col) for rows [begin, end), to[col]: runs of rows, one after the other or,
// where the order rounds, in a pairwise tree.
template <class Op, class T, class F>
static void runs_each(long begin, long end, long width, T init, T* to, F& body) {
  if (Op::rounds && end - begin > run_rows) {
    T other[strip_columns];
    const long cut = begin + run_rows * lower_half((end - begin + run_rows - 1) / run_rows);
    runs_each<Op>(begin, cut, width, init, to, body);
    runs_each<Op>(cut, end, width, init, other, body);
#pragma omp simd
    for (long col = 0; col < width; ++col) to[col] = Op::combine(to[col], other[col]);
    return;
  }
  for (long col = 0; col < width; ++col) to[col] = init;
  for (long row = begin; row < end; row += run_rows)
    run_each<Op>(row, least(row + run_rows, end), width, to, body);
}
// The same for all rows of a strip.
template <class Op, class T, class S, class F>
HELPER void columns_each(S& strip, T init, T* result, F body) {
  typedef typename Element<T>::Type E;
  E* to = (E*)result;
  if (!strip.shared) return runs_each<Op, E>(0, strip.all.rows, strip.width, init, to, body);
  for (long part = strip.first_part; part < strip.last_part; ++part)
    runs_each<Op, E>(strip.begin_of(part), strip.end_of(part), strip.width, init,
                     (E*)strip.part(0, part), body);
  strip.meet();
  const auto whole = [&](auto& self, long col, long begin, long count) -> E {
    if (count == 1) return ((E*)strip.part(0, begin))[col];
    const long half = lower_half(count);
    const E a = self(self, col, begin, half);
    return Op::combine(a, self(self, col, begin + half, count - half));
  };
  for (long col = 0; col < strip.width; ++col) to[col] = whole(whole, col, 0, strip.all.parts);
  strip.turn ^= 1;
}
