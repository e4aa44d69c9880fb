// needs: core sin_cos
__attribute__((noinline, cold)) static vf tan_far(vf x, vf y) {
  for (int i = 0; i < W; ++i)
    if (__builtin_fabsf(x[i]) >= 48000.0f) y[i] = __builtin_tanf(x[i]);
  return y;
}
HELPER vf tan(vf x) {  // of x - n pi/2 = r + low, or minus its reciprocal where n is odd
  vi turns;
  const vf n = nearest<0>(x, 0.636619747f, turns);
  const vf first = fma(n, fill(-1.57079637f), x);  // exact
  const vf next = n * 4.37113883e-8f, r = first + next, gained = r - first;
  const vf lost = (first - (r - gained)) + (next - gained);  // by the addition, exactly
  const vf low = lost + fma(n, fill(1.71512451e-15f), fma(n, fill(4.37113883e-8f), -next));
  const vf z = r * r;
  const vf q = poly(z, 0.00939571206f, 0.00310279219f, 0.0244406257f, 0.0534083955f, 0.13338834f,
                    0.333331555f);
  const vf near = fma(r * z, q, r);
  const vf t = r + fma(r * z, q, low * fma(near, near, fill(1.0f)));
  const vf y = x == 0.0f ? x : (turns & 1) != 0 ? -1.0f / t : t;
  if (__builtin_expect(any(abs(x) >= 48000.0f), 0)) return tan_far(x, y);
  return y;
}
HELPER double tan(double x) { return __builtin_tan(x); }
HELPER float tan(float x) { return tan(fill(x))[0]; }
