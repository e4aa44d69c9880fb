// needs: core
HELPER vf abs(vf a) { return (vf)((vi)a & 0x7fffffff); }
HELPER float abs(float a) { return __builtin_fabsf(a); }
HELPER double abs(double a) { return __builtin_fabs(a); }
HELPER int abs(int a) { return a < 0 ? (int)(0u - a) : a; }  // the smallest int stays
HELPER long abs(long a) { return a < 0 ? (long)(0ul - a) : a; }
HELPER vf with_sign_of(vf x, vf y) {  // y is not negative
  return (vf)((vi)y | ((vi)x & (int)0x80000000));
}
