// needs: core
// libm's, lane by lane: exact.
HELPER float fmod(float a, float b) { return __builtin_fmodf(a, b); }
HELPER vf fmod(vf a, vf b) {
  vf y;
  for (int i = 0; i < W; ++i) y[i] = fmod(a[i], b[i]);
  return y;
}
HELPER vf fmod(vf a, float b) { return fmod(a, fill(b)); }
HELPER vf fmod(float a, vf b) { return fmod(fill(a), b); }
