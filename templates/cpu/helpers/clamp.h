// needs: core
// One instruction each, which gives its second operand when either is NaN: NaN stays NaN.
#if defined(__AVX512F__) && !defined(__clang__)
HELPER vf at_least(float low, vf a) {
  return __builtin_ia32_maxps512_mask(fill(low), a, vf{}, -1, 4);
}
HELPER vf at_most(float high, vf a) {
  return __builtin_ia32_minps512_mask(fill(high), a, vf{}, -1, 4);
}
#elif defined(__AVX2__) && !defined(__AVX512F__)
HELPER vf at_least(float low, vf a) { return __builtin_ia32_maxps256(fill(low), a); }
HELPER vf at_most(float high, vf a) { return __builtin_ia32_minps256(fill(high), a); }
#else
HELPER vf at_least(float low, vf a) { return low > a ? fill(low) : a; }
HELPER vf at_most(float high, vf a) { return high < a ? fill(high) : a; }
#endif
