// needs: doubles
#if defined(QUICK_FMA)
// x = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2). With s = f / (2 + f), log(1 + f) is
// 2 artanh(s) = f - s (f - r(s^2)).
constexpr unsigned long sqrt_half_bits = 0x3fe6a09e667f3bcd, one_bits = 0x3ff0000000000000;
HELPER double mantissa(unsigned long bits) {  // f of what is one_bits - sqrt_half_bits more than x
  return of_bits((bits & 0xfffffffffffff) + sqrt_half_bits) - 1.0;
}
HELPER double split(double x, double& k) {  // f; x > 0 is finite
  const bool tiny = x < 0x1p-1022;
  const unsigned long bits = bits_of(tiny ? x * 0x1p54 : x) + (one_bits - sqrt_half_bits);
  k = whole(bits >> 52) - (tiny ? 1077.0 : 1023.0);
  return mantissa(bits);
}
HELPER double log_rest(double f) {  // log(1 + f) - f
  const double s = f / (2.0 + f), z = s * s;
  const double r = z * poly(z, 0.14796255169170677, 0.1531402173961534, 0.18183565381401207,
                            0.22222198554333417, 0.2857142874255603, 0.39999999999414,
                            0.6666666666666734);
  return -(s * (f - r));
}
HELPER double log_checked(double x, double zero, double y) {  // as for floats
  const double below = zero < 0.0 ? __builtin_nan("") : x;
  const double edge = zero == 0.0 ? -__builtin_inf() : below;
  return (zero > 0.0) & (x < __builtin_inf()) ? y : edge;
}
HELPER double log(double x) {
  double k;
  const double f = split(x, k);
  const double low = fma(k, 0x1.abc9e3b39803fp-56, log_rest(f));
  return log_checked(x, x, fma(k, 0x1.62e42fefa39efp-1, f + low));
}
HELPER double log2(double x) {
  double k;
  const double f = split(x, k), rest = log_rest(f);
  const double low = fma(f, 2.0355273740931033e-17, rest * 1.4426950408889634);
  return log_checked(x, x, k + fma(f, 1.4426950408889634, low));
}
HELPER double log10(double x) {
  double k;
  const double f = split(x, k), rest = log_rest(f);
  const double part = fma(f, 1.098319650216765e-17, rest * 0.4342944819032518);
  const double low = fma(k, -2.8037281277851704e-18, part);
  return log_checked(x, x, fma(k, 0.30102999566398120, fma(f, 0.4342944819032518, low)));
}
HELPER double log1p(double x) {
  const unsigned long bits = bits_of(1.0 + x) + (one_bits - sqrt_half_bits);
  const double k = whole(bits >> 52) - 1023.0;
  const double scale = of_bits((2046 - (bits >> 52)) << 52);  // 2^-k
  const double f = k > 64.0 ? mantissa(bits) : fma(x, scale, scale - 1.0);  // rounded once
  const double low = fma(k, 0x1.abc9e3b39803fp-56, log_rest(f));
  const double y = fma(k, 0x1.62e42fefa39efp-1, f + low);
  return x == 0.0 ? x : log_checked(x, 1.0 + x, y);
}
#else
HELPER double log(double x) { return __builtin_log(x); }
HELPER double log2(double x) { return __builtin_log2(x); }
HELPER double log10(double x) { return __builtin_log10(x); }
HELPER double log1p(double x) { return __builtin_log1p(x); }
#endif
