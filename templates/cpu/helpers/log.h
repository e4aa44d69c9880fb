// needs: core fma
// x = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2); log(1 + f) = f + f^2 (-1/2 + f q(f)).
constexpr int sqrt_half = 0x3f3504f3;
HELPER vf split(vf x, vf& k) {  // f; x > 0 is finite
  const vi tiny = x < 0x1p-126f;
  const vi bits = (vi)(tiny ? x * 0x1p23f : x) - sqrt_half;
  k = __builtin_convertvector((bits >> 23) + (tiny & -23), vf);
  return (vf)((bits & 0x7fffff) + sqrt_half) - 1.0f;
}
HELPER vf log_rest(vf f) {  // log(1 + f) - f
  const vf q = poly(f, -0.0763750747f, 0.127644107f, -0.131602630f, 0.142013207f, -0.166233137f,
                    0.200012490f, -0.250008225f, 0.333333313f);
  return f * f * fma(f, q, fill(-0.5f));
}
HELPER vf log_checked(vf x, vf zero, vf y) {  // y, but at 0, below, at inf and for NaN the limit
  const vf below = zero < 0.0f ? fill(__builtin_nanf("")) : x;
  const vf edge = zero == 0.0f ? fill(-__builtin_inff()) : below;
  return (zero > 0.0f) & (x < __builtin_inff()) ? y : edge;
}
HELPER vf log(vf x) {
  vf k;
  const vf f = split(x, k);
  const vf y = fma(k, fill(0.693147182f), f + fma(k, fill(-1.90465421e-9f), log_rest(f)));
  return log_checked(x, x, y);
}
HELPER vf log2(vf x) {
  vf k;
  const vf f = split(x, k), rest = log_rest(f);
  const vf y = k + fma(f, fill(1.44269502f), fma(f, fill(1.92596303e-8f), rest * 1.44269502f));
  return log_checked(x, x, y);
}
HELPER vf log10(vf x) {
  vf k;
  const vf f = split(x, k), rest = log_rest(f);
  const vf low = fma(k, fill(-1.43209888e-8f), fma(f, fill(-1.01030500e-8f), rest * 0.434294492f));
  const vf y = fma(k, fill(0.301030010f), fma(f, fill(0.434294492f), low));
  return log_checked(x, x, y);
}
HELPER vf log1p(vf x) {
  const vi bits = (vi)(1.0f + x) - sqrt_half, e = bits >> 23;
  const vf k = __builtin_convertvector(e, vf), scale = (vf)((127 - e) << 23);
  const vf m = (vf)((bits & 0x7fffff) + sqrt_half) - 1.0f;
  const vf f = e > 64 ? m : fma(x, scale, scale - 1.0f);  // (1 + x) / 2^e - 1, rounded once
  const vf y = fma(k, fill(0.693147182f), f + fma(k, fill(-1.90465421e-9f), log_rest(f)));
  return x == 0.0f ? x : log_checked(x, 1.0f + x, y);
}
HELPER float log(float x) { return log(fill(x))[0]; }
HELPER float log2(float x) { return log2(fill(x))[0]; }
HELPER float log10(float x) { return log10(fill(x))[0]; }
HELPER float log1p(float x) { return log1p(fill(x))[0]; }
