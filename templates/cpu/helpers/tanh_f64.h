// needs: exp_f64 sign
#if defined(QUICK_FMA)
HELPER double tanh(double x) {  // a + a^3 p(a^2) / q(a^2), or 1 - 2 / (e^2a + 1): one division
  const double a = at_most(20.0, abs(x)), z = a * a;
  const bool small = a < 0.625;
  const double p = poly(z, -0.9644013685069468, -99.29330795009797, -1614.803002234971);
  const double q = poly(z, 1.0, 112.81772791989597, 2235.64352653218, 4844.409006704915);
  unsigned long biased;
  const double e = (exp_reduced<1023>(a + a, biased) + 1.0) * of_bits(biased << 52);
  const double part = (small ? a * z * p : -2.0) / (small ? q : e + 1.0);
  return __builtin_copysign((small ? a : 1.0) + part, x);
}
#else
HELPER double tanh(double x) { return __builtin_tanh(x); }
#endif
