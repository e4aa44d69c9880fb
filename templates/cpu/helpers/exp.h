// needs: core fma sign
// Cody and Waite's reduction x = k ln2 + r, |r| < 0.35, then e^r = 1 + r + r^2 q(r).
HELPER vf power_of_two(vi k) { return (vf)((k + 127) << 23); }
HELPER vf nearest(vf x, float scale, vi& k) {  // x * scale to the nearest integer, also as k
  const vf shifted = fma(x, fill(scale), fill(12582912.0f));  // 1.5 * 2^23: its last bit is 1
  k = (vi)shifted - 0x4b400000;
  return shifted - 12582912.0f;
}
HELPER vf exp_reduced(vf x, vi& k, vf& r) {  // e^r - 1
  const vf n = nearest(x, 1.44269504f, k);
  r = fma(n, fill(-0.693147182f), x);
  r = fma(n, fill(1.90465421e-9f), r);
  const vf q = poly(r, 0.00138207339f, 0.00836867746f, 0.0416682661f, 0.166665211f, 0.49999994f);
  return fma(r * r, q, r);
}
HELPER vf exp(vf x) {
  vi k;
  vf r;
  const vf p = exp_reduced(at_least(-104.0f, at_most(89.0f, x)), k, r) + 1.0f;
  return p * power_of_two(k >> 1) * power_of_two(k - (k >> 1));  // two steps reach denormals, inf
}
HELPER float exp(float x) { return exp(fill(x))[0]; }

HELPER vf exp2(vf x) {
  const vf c = at_least(-150.0f, at_most(129.0f, x));
  vi k;
  const vf r = c - nearest(c, 1.0f, k);
  const vf q = poly(r, 1.53278030e-4f, 0.00133909972f, 0.00961850304f, 0.0555035956f, 0.240226477f,
                    0.693147182f);
  return fma(r, q, fill(1.0f)) * power_of_two(k >> 1) * power_of_two(k - (k >> 1));
}
HELPER float exp2(float x) { return exp2(fill(x))[0]; }
