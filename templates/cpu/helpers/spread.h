// needs: core
// Elements that each stand for `size` in a row: a weight for each channel of many pixels.
template <class T> struct Spread {
  const T* at;
  long size, col;
  INLINE Spread operator+(long more) const { return {at, size, col + more}; }
};
template <class T> HELPER Spread<T> in_runs(const T* at, long size) { return {at, size, 0}; }
HELPER int lanes_in(Full) { return W; }
HELPER int lanes_in(Tail t) { return t.n; }
// A vector in which elements change: `left` lanes for the first, `size` for each one after it.
template <class T> __attribute__((noinline)) vf of_runs(const T* at, long left, long size, int n) {
  vf all{};
  for (int i = 0; i < n; ++i, --left) {
    if (!left) ++at, left = size;
    all[i] = load(at, Tail{1})[0];
  }
  return all;
}
template <class T, class M> HELPER vf load(Spread<T> p, M mask) {
  const bool few = !((p.col | p.size) >> 32);  // 64 bits take longer to divide
  const long first = few ? (unsigned)p.col / (unsigned)p.size : p.col / p.size;
  const long left = p.size - (p.col - first * p.size);
  if (left >= lanes_in(mask)) return fill(load(p.at + first, Tail{1})[0]);
  return of_runs(p.at + first, left, p.size, lanes_in(mask));
}
