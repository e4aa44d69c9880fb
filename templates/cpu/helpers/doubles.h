// needs: core fma
// Functions of one double without branches or conversions: of loops over them the compiler makes
// vectors. Without FMA instructions the C library's are quicker.
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define QUICK_FMA 1
#endif
HELPER unsigned long bits_of(double a) { return __builtin_bit_cast(unsigned long, a); }
HELPER double of_bits(unsigned long a) { return __builtin_bit_cast(double, a); }
HELPER double whole(unsigned long n) { return of_bits(n | bits_of(0x1p52)) - 0x1p52; }  // n < 2^52
HELPER double at_least(double low, double a) { return low > a ? low : a; }  // NaN stays
HELPER double at_most(double high, double a) { return high < a ? high : a; }
template <class... C> HELPER double poly(double x, double first, C... rest) {
  double p = first;
  ((p = fma(p, x, rest)), ...);
  return p;
}
