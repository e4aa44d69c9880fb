// needs: core exp sign
// x = n pi/2 + r with pi/2 in three parts; from 48,000 on, libm's reduction, lane by lane.
HELPER bool any(vi truth) {
#if defined(__clang__)
  return __builtin_reduce_or(truth) != 0;
#elif defined(__AVX512F__)
  return __builtin_ia32_ptestmd512(truth, truth, -1) != 0;
#elif defined(__AVX2__)
  return __builtin_ia32_movmskps256((vf)truth) != 0;
#else
  return (truth[0] | truth[1] | truth[2] | truth[3]) != 0;
#endif
}
__attribute__((noinline, cold)) static vf sin_far(vf x, vf y, int shift) {
  for (int i = 0; i < W; ++i)
    if (__builtin_fabsf(x[i]) >= 48000.0f)
      y[i] = shift ? __builtin_cosf(x[i]) : __builtin_sinf(x[i]);
  return y;
}
HELPER vf sin_turned(vf x, int shift) {  // sin(x + shift pi/2)
  vi turns;
  const vf n = nearest<0>(x, 0.636619747f, turns);
  vf r = fma(n, fill(-1.57079637f), x);  // exact
  r = fma(n, fill(1.71512451e-15f), fma(n, fill(4.37113883e-8f), r));
  const vf z = r * r;
  const vf s = fma(r * z, poly(z, -1.95179091e-4f, 0.00833218731f, -0.166666552f), r);
  const vf c = poly(z, 2.44318817e-5f, -0.00138873071f, 0.0416666456f, -0.5f, 1.0f);
  const vi q = turns + shift;
  const vf y = (vf)((vi)((q & 1) != 0 ? c : s) ^ (q & 2) << 30);
  if (__builtin_expect(any(abs(x) >= 48000.0f), 0)) return sin_far(x, y, shift);
  return y;
}
HELPER vf sin(vf x) { return x == 0.0f ? x : sin_turned(x, 0); }  // keeps -0.0
HELPER vf cos(vf x) { return sin_turned(x, 1); }
HELPER double sin(double x) { return __builtin_sin(x); }
HELPER float sin(float x) { return sin(fill(x))[0]; }
HELPER double cos(double x) { return __builtin_cos(x); }
HELPER float cos(float x) { return cos(fill(x))[0]; }
