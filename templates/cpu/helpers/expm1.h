// needs: core exp
HELPER vf expm1(vf x) {  // 2^n (e^r - 1) + (2^n - 1), halved on the way: 2^128 is no float
  vi biased;
  const vf p = exp_reduced<126>(at_least(-18.0f, at_most(89.0f, x)), biased);
  const vf half = (vf)(biased << 23);
  const vf y = 2.0f * fma(half, p, half - 0.5f);
  return x == 0.0f ? x : y;  // keeps -0.0
}
HELPER float expm1(float x) { return expm1(fill(x))[0]; }
