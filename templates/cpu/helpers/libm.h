// needs: core lanes
// The C library's functions, lane by lane.
HELPER float tan(float a) { return __builtin_tanf(a); }
HELPER float asin(float a) { return __builtin_asinf(a); }
HELPER float acos(float a) { return __builtin_acosf(a); }
HELPER float atan(float a) { return __builtin_atanf(a); }
HELPER float sinh(float a) { return __builtin_sinhf(a); }
HELPER float cosh(float a) { return __builtin_coshf(a); }
HELPER float asinh(float a) { return __builtin_asinhf(a); }
HELPER float acosh(float a) { return __builtin_acoshf(a); }
HELPER float atanh(float a) { return __builtin_atanhf(a); }
HELPER float erfc(float a) { return (float)__builtin_erfc(a); }
HELPER float atan2(float a, float b) { return __builtin_atan2f(a, b); }
HELPER float hypot(float a, float b) { return __builtin_hypotf(a, b); }
HELPER float nextafter(float a, float b) { return __builtin_nextafterf(a, b); }
HELPER double tan(double a) { return __builtin_tan(a); }
HELPER double asin(double a) { return __builtin_asin(a); }
HELPER double acos(double a) { return __builtin_acos(a); }
HELPER double atan(double a) { return __builtin_atan(a); }
HELPER double sinh(double a) { return __builtin_sinh(a); }
HELPER double cosh(double a) { return __builtin_cosh(a); }
HELPER double asinh(double a) { return __builtin_asinh(a); }
HELPER double acosh(double a) { return __builtin_acosh(a); }
HELPER double atanh(double a) { return __builtin_atanh(a); }
HELPER double erfc(double a) { return __builtin_erfc(a); }
HELPER double atan2(double a, double b) { return __builtin_atan2(a, b); }
HELPER double hypot(double a, double b) { return __builtin_hypot(a, b); }
HELPER double nextafter(double a, double b) { return __builtin_nextafter(a, b); }
HELPER vf tan(vf a) { return by_lanes([](float x) { return tan(x); }, a); }
HELPER vf asin(vf a) { return by_lanes([](float x) { return asin(x); }, a); }
HELPER vf acos(vf a) { return by_lanes([](float x) { return acos(x); }, a); }
HELPER vf atan(vf a) { return by_lanes([](float x) { return atan(x); }, a); }
HELPER vf sinh(vf a) { return by_lanes([](float x) { return sinh(x); }, a); }
HELPER vf cosh(vf a) { return by_lanes([](float x) { return cosh(x); }, a); }
HELPER vf asinh(vf a) { return by_lanes([](float x) { return asinh(x); }, a); }
HELPER vf acosh(vf a) { return by_lanes([](float x) { return acosh(x); }, a); }
HELPER vf atanh(vf a) { return by_lanes([](float x) { return atanh(x); }, a); }
HELPER vf erfc(vf a) { return by_lanes([](float x) { return erfc(x); }, a); }
HELPER vf atan2(vf a, vf b) {
  return by_lanes([](float x, float y) { return atan2(x, y); }, a, b);
}
HELPER vf hypot(vf a, vf b) {
  return by_lanes([](float x, float y) { return hypot(x, y); }, a, b);
}
HELPER vf nextafter(vf a, vf b) {
  return by_lanes([](float x, float y) { return nextafter(x, y); }, a, b);
}
