// needs: core
HELPER vf abs(vf a) { return (vf)((vi)a & 0x7fffffff); }
HELPER float abs(float a) { return __builtin_fabsf(a); }
HELPER vf with_sign_of(vf x, vf y) {  // y is not negative
  return (vf)((vi)y | ((vi)x & (int)0x80000000));
}
