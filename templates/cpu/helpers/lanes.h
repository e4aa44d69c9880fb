// needs: core
// A function that has no vector code of its own: the C library's, lane by lane.
template <class F> HELPER vf by_lanes(F f, vf a) {
  for (int i = 0; i < W; ++i) a[i] = f(a[i]);
  return a;
}
template <class F> HELPER vf by_lanes(F f, vf a, vf b) {
  for (int i = 0; i < W; ++i) a[i] = f(a[i], b[i]);
  return a;
}
