// needs: doubles
#if defined(QUICK_FMA)
// As for floats. 1.5 * 2^52 + bias + n holds bias + n in its last bits.
template <int bias> HELPER double nearest(double x, double scale, unsigned long& biased) {
  const double shifted = fma(x, scale, 0x1.8p52 + bias);
  biased = bits_of(shifted);
  return shifted - (0x1.8p52 + bias);
}
template <int bias> HELPER double exp_reduced(double x, unsigned long& biased) {  // e^r - 1
  const double n = nearest<bias>(x, 0x1.71547652b82fep+0, biased);
  const double r = fma(n, -0x1.abc9e3b39803fp-56, fma(n, -0x1.62e42fefa39efp-1, x));
  const double q =
      poly(r, 2.0924388299391305e-9, 2.51090446387457e-8, 2.755724296084497e-7,
           2.755724418264105e-6, 2.4801587360287556e-5, 1.984126988615774e-4,
           0.0013888888888866995, 0.008333333333321617, 0.0416666666666667, 0.16666666666666677,
           0.5);
  return fma(r * r, q, r);
}
HELPER double times_power(double p, unsigned long biased) {  // p 2^n of bias 2046
  const unsigned long half = biased >> 1;
  return p * of_bits(half << 52) * of_bits((biased - half) << 52);
}
HELPER double exp(double x) {
  unsigned long biased;
  const double p = exp_reduced<2046>(at_least(-746.0, at_most(710.0, x)), biased);
  return times_power(p + 1.0, biased);
}
HELPER double exp2(double x) {
  const double c = at_least(-1076.0, at_most(1025.0, x));
  unsigned long biased;
  const double r = c - nearest<2046>(c, 1.0, biased);
  const double q =
      poly(r, 4.4347654445445993e-10, 7.0737829670346495e-9, 1.0178199613129043e-7,
           1.3215435283933465e-6, 1.5252733493021979e-5, 1.5403530457108885e-4,
           0.001333355814677474, 0.009618129107594122, 0.055504108664820084, 0.2402265069591013,
           0.6931471805599453);
  return times_power(fma(r, q, 1.0), biased);
}
#else
HELPER double exp(double x) { return __builtin_exp(x); }
HELPER double exp2(double x) { return __builtin_exp2(x); }
#endif
