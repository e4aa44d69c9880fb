// needs: core fma clamp
// Cody and Waite's reduction x = n ln2 + r, |r| < 0.35, then e^r = 1 + r + r^2 q(r).
// 1.5 * 2^23 + bias + n holds bias + n in its last bits: a shift makes that an exponent.
template <int bias> HELPER vf nearest(vf x, float scale, vi& biased) {  // x * scale, rounded
  const vf shifted = fma(x, fill(scale), fill(12582912.0f + bias));
  biased = (vi)shifted;
  return shifted - (12582912.0f + bias);
}
template <int bias> HELPER vf exp_reduced(vf x, vi& biased) {  // e^r - 1
  const vf n = nearest<bias>(x, 1.44269504f, biased);
  const vf r = fma(n, fill(1.90465421e-9f), fma(n, fill(-0.693147182f), x));
  const vf q = poly(r, 0.00138207339f, 0.00836867746f, 0.0416682661f, 0.166665211f, 0.49999994f);
  return fma(r * r, q, r);
}
HELPER vf times_power(vf p, vi biased) {  // p 2^n of bias 254; two steps reach denormals and inf
  const vi half = biased >> 1;
  return p * (vf)(half << 23) * (vf)((biased - half) << 23);
}
HELPER vf exp(vf x) {
  vi biased;
  const vf p = exp_reduced<254>(at_least(-104.0f, at_most(89.0f, x)), biased);
  return times_power(p + 1.0f, biased);
}
HELPER vf exp2(vf x) {
  const vf c = at_least(-150.0f, at_most(129.0f, x));
  vi biased;
  const vf r = c - nearest<254>(c, 1.0f, biased);
  const vf q = poly(r, 1.53278030e-4f, 0.00133909972f, 0.00961850304f, 0.0555035956f, 0.240226477f,
                    0.693147182f);
  return times_power(fma(r, q, fill(1.0f)), biased);
}
HELPER float exp(float x) { return exp(fill(x))[0]; }
HELPER float exp2(float x) { return exp2(fill(x))[0]; }
