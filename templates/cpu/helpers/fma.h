// needs: core
// a * b + c rounded once: for the inside of a function, never between two operations of the user.
#if defined(__clang__)
HELPER vf fma(vf a, vf b, vf c) { return __builtin_elementwise_fma(a, b, c); }
#elif defined(__AVX512F__)
HELPER vf fma(vf a, vf b, vf c) { return __builtin_ia32_vfmaddps512_mask(a, b, c, -1, 4); }
#elif defined(__AVX2__) && defined(__FMA__)
HELPER vf fma(vf a, vf b, vf c) { return __builtin_ia32_vfmaddps256(a, b, c); }
#elif defined(__ARM_FEATURE_FMA)
HELPER vf fma(vf a, vf b, vf c) {
  vf y;
  for (int i = 0; i < W; ++i) y[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return y;
}
#else  // the product is exact in double
HELPER vf fma(vf a, vf b, vf c) {
  typedef double vd __attribute__((vector_size(8 * W)));
  const vd product = __builtin_convertvector(a, vd) * __builtin_convertvector(b, vd);
  return __builtin_convertvector(product + __builtin_convertvector(c, vd), vf);
}
#endif
HELPER float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
HELPER double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
// first * x^n + ... + last, by Horner.
template <class... C> HELPER vf poly(vf x, float first, C... rest) {
  vf p = fill(first);
  ((p = fma(p, x, fill(rest))), ...);
  return p;
}
