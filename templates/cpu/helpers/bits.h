// needs: core
HELPER float copysign(float a, float b) { return __builtin_copysignf(a, b); }
HELPER double copysign(double a, double b) { return __builtin_copysign(a, b); }
HELPER vf copysign(vf a, vf b) {
  return (vf)(((vi)a & 0x7fffffff) | ((vi)b & (int)0x80000000));
}
HELPER bool signbit(float a) { return __builtin_signbitf(a) != 0; }
HELPER bool signbit(double a) { return __builtin_signbit(a) != 0; }
HELPER vi signbit(vf a) { return (vi)a < 0; }
