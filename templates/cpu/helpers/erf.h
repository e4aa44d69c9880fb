// needs: core exp sign
HELPER vf erf(vf x) {
  const vf a = at_most(4.0f, abs(x)), z = a * a;
  const vf p = poly(z, 7.80690389e-5f, -7.99785310e-4f, 0.00518716220f, -0.0268533472f,
                    0.112835787f, -0.376126260f, 0.128379166f);
  const vf small = fma(a, p, a);
  const vf q = poly(a, 1.86504927e-4f, -0.00294892956f, 0.0218433160f, -0.103118099f, -0.638131320f,
                    -1.12709761f, -3.39379980e-4f);  // log(erfc(a))
  vi biased;
  const vf large = 1.0f - (exp_reduced<127>(q, biased) + 1.0f) * (vf)(biased << 23);
  return with_sign_of(x, a < 1.0f ? small : large);
}
HELPER float erf(float x) { return erf(fill(x))[0]; }
