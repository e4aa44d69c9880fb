// needs: core exp sign
HELPER vf tanh(vf x) {
  const vf a = at_most(10.0f, abs(x)), z = a * a;
  const vf p = poly(z, 0.00158704445f, -0.00741417658f, 0.0213065278f, -0.0538535975f,
                    0.133322418f, -0.333332986f);
  const vf small = fma(a * z, p, a);
  vi biased;
  const vf e = (exp_reduced<127>(a + a, biased) + 1.0f) * (vf)(biased << 23);
  const vf large = 1.0f - 2.0f / (e + 1.0f);
  return with_sign_of(x, a < 0.8f ? small : large);
}
HELPER float tanh(float x) { return tanh(fill(x))[0]; }
