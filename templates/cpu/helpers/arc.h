// needs: core fma sign sqrt
// atan(a) = a + a^3 q(a^2) on [0, 1], asin(a) likewise for a^2 <= 0.4; q minimises the largest
// relative error (Lawson's iteration of weighted least squares). pi has two parts.
HELPER vf from_half_pi(vf a) { return 1.57079637f - (a - -4.37113883e-8f); }
HELPER vf from_pi(vf a) { return 3.14159274f - (a - -8.74227766e-8f); }
HELPER vf atan_unit(vf a) {
  const vf z = a * a;
  const vf q = poly(z, 0.00292064622f, -0.0163677447f, 0.0432115644f, -0.0755218938f, 0.106659934f,
                    -0.142110527f, 0.199937731f, -0.333331525f);
  return fma(a * z, q, a);
}
HELPER vf asin_small(vf a, vf z) {  // z = a^2
  const vf q = poly(z, 0.066920653f, -0.0273463707f, 0.0394856818f, 0.026959762f, 0.0449998081f,
                    0.074982591f, 0.166666955f);
  return fma(a * z, q, a);
}
HELPER vf atan(vf x) {
  const vf a = abs(x);
  const vf r = atan_unit(a > 1.0f ? 1.0f / a : a);
  return with_sign_of(x, a > 1.0f ? from_half_pi(r) : r);
}
HELPER vf atan2(vf y, vf x) {
  const vf a = abs(x), b = abs(y);
  const vf low = a < b ? a : b, high = a < b ? b : a;
  const vf ratio = low == high ? (low == 0.0f ? vf{} : fill(1.0f)) : low / high;
  const vf r = atan_unit(ratio), turned = a < b ? from_half_pi(r) : r;
  const vf whole = (vi)x < 0 ? from_pi(turned) : turned;
  return (x != x) | (y != y) ? x + y : with_sign_of(y, whole);
}
HELPER vf asin(vf x) {
  const vf a = abs(x), z = a > 0.63f ? 0.5f * (1.0f - a) : a * a;
  const vf r = asin_small(a > 0.63f ? sqrt(z) : a, z);
  return with_sign_of(x, a > 0.63f ? from_half_pi(r + r) : r);
}
HELPER vf acos(vf x) {
  const vf a = abs(x), z = a > 0.63f ? 0.5f * (1.0f - a) : a * a;
  const vf r = asin_small(a > 0.63f ? sqrt(z) : a, z);
  const vf far = x < 0.0f ? from_pi(r + r) : r + r;
  return a > 0.63f ? far : from_half_pi(with_sign_of(x, r));
}
HELPER double atan(double x) { return __builtin_atan(x); }
HELPER float atan(float x) { return atan(fill(x))[0]; }
HELPER double atan2(double y, double x) { return __builtin_atan2(y, x); }
HELPER float atan2(float y, float x) { return atan2(fill(y), fill(x))[0]; }
HELPER double asin(double x) { return __builtin_asin(x); }
HELPER float asin(float x) { return asin(fill(x))[0]; }
HELPER double acos(double x) { return __builtin_acos(x); }
HELPER float acos(float x) { return acos(fill(x))[0]; }
