// needs: exp_f64
#if defined(QUICK_FMA)
HELPER double expm1(double x) {  // 2^n (e^r - 1) + (2^n - 1), halved on the way
  unsigned long biased;
  const double p = exp_reduced<1022>(at_least(-38.0, at_most(710.0, x)), biased);
  const double half = of_bits(biased << 52);
  const double y = 2.0 * fma(half, p, half - 0.5);
  return x == 0.0 ? x : y;  // keeps -0.0
}
#else
HELPER double expm1(double x) { return __builtin_expm1(x); }
#endif
