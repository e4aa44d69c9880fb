// needs: core exp sign
HELPER vf half_exp(vf a) {  // e^a / 2, finite wherever sinh and cosh are
  vi biased;
  const vf p = exp_reduced<253>(at_most(91.0f, a), biased);
  return times_power(p + 1.0f, biased);
}
HELPER vf sinh(vf x) {
  const vf a = abs(x), z = a * a, h = half_exp(a);
  const vf q = poly(z, 2.81695134e-6f, 1.98361595e-4f, 0.0083333496f, 0.166666672f);
  return with_sign_of(x, a < 1.0f ? fma(a * z, q, a) : h - 0.25f / h);
}
HELPER vf cosh(vf x) {
  const vf h = half_exp(abs(x));
  return h + 0.25f / h;
}
HELPER double sinh(double x) { return __builtin_sinh(x); }
HELPER float sinh(float x) { return sinh(fill(x))[0]; }
HELPER double cosh(double x) { return __builtin_cosh(x); }
HELPER float cosh(float x) { return cosh(fill(x))[0]; }
