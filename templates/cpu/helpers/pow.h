// needs: core
// libm's, lane by lane.
HELPER float pow(float a, float b) { return __builtin_powf(a, b); }
HELPER vf pow(vf a, vf b) {
  vf y;
  for (int i = 0; i < W; ++i) y[i] = pow(a[i], b[i]);
  return y;
}
HELPER vf pow(vf a, float b) { return pow(a, fill(b)); }
HELPER vf pow(float a, vf b) { return pow(fill(a), b); }
