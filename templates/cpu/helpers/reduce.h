// needs: core combine
template <int step, int... I> HELPER vf swapped(vf a, Lanes<I...>) {
  return __builtin_shufflevector(a, a, (I ^ step)...);
}
template <class Op, int step = W / 2> HELPER float fold(vf a) {  // lane i with lane i + step
  a = Op::combine(a, swapped<step>(a, AllLanes{}));
  if constexpr (step > 1) return fold<Op, step / 2>(a);
  return a[0];
}
template <class Op, int U, class V, int step = U / 2> HELPER V fold_parts(V (&part)[U]) {
  if constexpr (step == 0) return part[0];
  else {
    each<step>([&](auto u) INLINE { part[u] = Op::combine(part[u], part[u + step]); });
    return fold_parts<Op, U, V, step / 2>(part);
  }
}

// Pairwise sums of any length: level k holds the sum of 2^k runs, or nothing.
template <class Op, class V = vf> struct Cascade {
  long runs = 0;
  V level[48];
  INLINE void add(V a) {
    int k = 0;
    for (; runs >> k & 1; ++k) a = Op::combine(level[k], a);
    level[k] = a;
    ++runs;
  }
  INLINE V total(V a) const {
    for (int k = 0; runs >> k; ++k)
      if (runs >> k & 1) a = Op::combine(level[k], a);
    return a;
  }
};

// Op over body(i, mask) for i in [begin, end): U accumulators, and a pairwise tree over their runs.
template <class Op, int U = Op::chains, class F>
HELPER auto reduce_lanes(long begin, long end, F body) {
  typedef decltype(fill(Op::init)) V;
  constexpr long run = 32 * U * W;
  V part[U];
  Cascade<Op, V> cascade;
  for (;; begin += run) {
    const bool last = !Op::rounds || end - begin <= run;
    each<U>([&](auto u) INLINE { part[u] = fill(Op::init); });
    sweep<U>(begin, last ? end : begin + run, [&](long i, auto u, auto mask) INLINE {
      part[u] = pick(mask, Op::combine(part[u], body(i, mask)), part[u]);
    });
    const V all = fold_parts<Op>(part);
    if (last) return cascade.runs ? cascade.total(all) : all;
    cascade.add(all);
  }
}
template <class Op, int U = Op::chains, class F>
HELPER float reduce(long begin, long end, F body) {
  return fold<Op>(reduce_lanes<Op, U>(begin, end, body));
}
