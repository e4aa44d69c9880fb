// needs: core fma sign exp
HELPER vf expm1(vf x) {  // 2^k (e^r - 1) + (2^k - 1), halved on the way: 2^128 is no float
  const vf c = at_least(-18.0f, at_most(89.0f, x));
  vi k;
  vf r;
  const vf p = exp_reduced(c, k, r), half = power_of_two(k - 1);
  const vf y = 2.0f * fma(half, p, half - 0.5f);
  return x == 0.0f ? x : y;  // keeps -0.0
}
HELPER float expm1(float x) { return expm1(fill(x))[0]; }
