// needs: team reduce_each
// Op over body(row, col) for rows [begin, end), to[col]: runs of a few rows, then a pairwise tree.
template <class Op, class T, class F>
static void runs_each(long begin, long end, long width, T init, T* to, F& body) {
  if (end - begin > run_rows) {
    T other[strip_columns];
    const long cut = begin + run_rows * lower_half((end - begin + run_rows - 1) / run_rows);
    runs_each<Op>(begin, cut, width, init, to, body);
    runs_each<Op>(cut, end, width, init, other, body);
    for (long col = 0; col < width; ++col) to[col] = Op::combine(to[col], other[col]);
    return;
  }
  T run[strip_columns];
  for (long col = 0; col < width; ++col) run[col] = init;
  for (long row = begin; row < end; ++row)
    for (long col = 0; col < width; ++col) run[col] = Op::combine(run[col], T(body(row, col)));
  for (long col = 0; col < width; ++col) to[col] = run[col];
}
// The same for all rows of a strip.
template <class Op, class T, class S, class F>
HELPER void columns_each(S& strip, T init, T* to, F body) {
  if (!strip.shared) return runs_each<Op>(0, strip.all.rows, strip.width, init, to, body);
  for (long part = strip.first_part; part < strip.last_part; ++part)
    runs_each<Op>(strip.begin_of(part), strip.end_of(part), strip.width, init,
                  (T*)strip.part(0, part), body);
  strip.meet();
  const auto whole = [&](auto& self, long col, long begin, long count) -> T {
    if (count == 1) return ((T*)strip.part(0, begin))[col];
    const long half = lower_half(count);
    const T a = self(self, col, begin, half);
    return Op::combine(a, self(self, col, begin + half, count - half));
  };
  for (long col = 0; col < strip.width; ++col) to[col] = whole(whole, col, 0, strip.all.parts);
  strip.turn ^= 1;
}
