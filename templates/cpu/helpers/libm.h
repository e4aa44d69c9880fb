// needs: core lanes
// The C library's functions, lane by lane.
HELPER float asinh(float a) { return __builtin_asinhf(a); }
HELPER float acosh(float a) { return __builtin_acoshf(a); }
HELPER float atanh(float a) { return __builtin_atanhf(a); }
HELPER float erfc(float a) { return (float)__builtin_erfc(a); }
HELPER float hypot(float a, float b) { return __builtin_hypotf(a, b); }
HELPER float nextafter(float a, float b) { return __builtin_nextafterf(a, b); }
HELPER double asinh(double a) { return __builtin_asinh(a); }
HELPER double acosh(double a) { return __builtin_acosh(a); }
HELPER double atanh(double a) { return __builtin_atanh(a); }
HELPER double erfc(double a) { return __builtin_erfc(a); }
HELPER double hypot(double a, double b) { return __builtin_hypot(a, b); }
HELPER double nextafter(double a, double b) { return __builtin_nextafter(a, b); }
HELPER vf asinh(vf a) { return by_lanes([](float x) { return asinh(x); }, a); }
HELPER vf acosh(vf a) { return by_lanes([](float x) { return acosh(x); }, a); }
HELPER vf atanh(vf a) { return by_lanes([](float x) { return atanh(x); }, a); }
HELPER vf erfc(vf a) { return by_lanes([](float x) { return erfc(x); }, a); }
HELPER vf hypot(vf a, vf b) {
  return by_lanes([](float x, float y) { return hypot(x, y); }, a, b);
}
HELPER vf nextafter(vf a, vf b) {
  return by_lanes([](float x, float y) { return nextafter(x, y); }, a, b);
}
