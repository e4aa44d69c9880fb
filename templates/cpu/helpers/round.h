// needs: core
// Rounding to integers; one instruction each with SSE4.1 and later.
HELPER float floor(float a) { return __builtin_floorf(a); }
HELPER float ceil(float a) { return __builtin_ceilf(a); }
HELPER float trunc(float a) { return __builtin_truncf(a); }
HELPER float rint(float a) { return __builtin_rintf(a); }  // a half to the even one
HELPER vf floor(vf a) {
  vf y;
  for (int i = 0; i < W; ++i) y[i] = floor(a[i]);
  return y;
}
HELPER vf ceil(vf a) {
  vf y;
  for (int i = 0; i < W; ++i) y[i] = ceil(a[i]);
  return y;
}
HELPER vf trunc(vf a) {
  vf y;
  for (int i = 0; i < W; ++i) y[i] = trunc(a[i]);
  return y;
}
HELPER vf rint(vf a) {
  vf y;
  for (int i = 0; i < W; ++i) y[i] = rint(a[i]);
  return y;
}
