// needs: core
#if defined(__AVX512F__) && !defined(__clang__)
HELPER vf sqrt(vf a) { return __builtin_ia32_sqrtps512_mask(a, vf{}, -1, 4); }
#elif defined(__AVX2__) && !defined(__clang__)
HELPER vf sqrt(vf a) { return __builtin_ia32_sqrtps256(a); }
#else
HELPER vf sqrt(vf a) {
  vf y;
  for (int i = 0; i < W; ++i) y[i] = __builtin_sqrtf(a[i]);
  return y;
}
#endif
HELPER float sqrt(float a) { return __builtin_sqrtf(a); }
HELPER double sqrt(double a) { return __builtin_sqrt(a); }
HELPER vf rsqrt(vf a) { return 1.0f / sqrt(a); }
HELPER float rsqrt(float a) { return 1.0f / sqrt(a); }
HELPER double rsqrt(double a) { return 1.0 / sqrt(a); }
