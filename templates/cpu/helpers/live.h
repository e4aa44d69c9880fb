// needs: core
// The lanes that count, as truth in every lane; whether any lane is true.
HELPER vi active(Full) { return vi{} - 1; }
HELPER vi active(Tail t) { return lane < t.n; }
#if defined(__AVX512F__) && !defined(__clang__)
HELPER bool any_lane(vi a) { return __builtin_ia32_ptestmd512(a, a, (unsigned short)-1) != 0; }
#elif defined(__AVX2__) && !defined(__clang__)
HELPER bool any_lane(vi a) { return __builtin_ia32_movmskps256((vf)a) != 0; }
#else
HELPER bool any_lane(vi a) {
  int found = 0;
  for (int i = 0; i < W; ++i) found |= a[i];
  return found != 0;
}
#endif
