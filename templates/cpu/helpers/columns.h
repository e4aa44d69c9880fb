// needs: core combine reduce
// Op over body(row, col, mask) for rows [begin, end), left in part[col]: eight vectors of columns
// at a time, runs of 32 rows, then a pairwise tree. A block of 32 * 2^k rows is a subtree of the
// whole, so the result is the same however the rows are cut into blocks.
template <class Op, int U, class M, class F>
HELPER void strip_of(long begin, long end, long col, M mask, float* part, F body) {
  vf acc[U];
  Cascade<Op> cascade[U];
  for (long first = begin;; first += 32) {
    const bool last = end - first <= 32;
    each<U>([&](auto u) INLINE { acc[u] = fill(Op::init); });
    for (long row = first; row < (last ? end : first + 32); ++row)
      each<U>([&](auto u) INLINE { acc[u] = Op::combine(acc[u], body(row, col + u * W, mask)); });
    if (last) break;
    each<U>([&](auto u) INLINE { cascade[u].add(acc[u]); });
  }
  each<U>([&](auto u) INLINE { store(part + col + u * W, cascade[u].total(acc[u]), mask); });
}
constexpr long strip_columns = 8 * W;
template <class Op, class F>
HELPER void columns(long begin, long end, long col, long last, float* part, F body) {
  if (last - col == strip_columns) return strip_of<Op, 8>(begin, end, col, Full{}, part, body);
  for (; col + W <= last; col += W) strip_of<Op, 1>(begin, end, col, Full{}, part, body);
  if (col < last) strip_of<Op, 1>(begin, end, col, Tail{(int)(last - col)}, part, body);
}
// The blocks' parts combined, the same tree going on.
template <class Op, class M>
HELPER vf combine_blocks(const float* part, long blocks, long cols, M mask) {
  Cascade<Op> cascade;
  for (long block = 0; block + 1 < blocks; ++block) cascade.add(load(part + block * cols, mask));
  return cascade.total(load(part + (blocks - 1) * cols, mask));
}
