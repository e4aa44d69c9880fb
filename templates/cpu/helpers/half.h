// needs: core
// bf16 and f16 exist in memory only: a load widens, a store rounds to nearest even.
struct bf16 { unsigned short bits; };
struct f16 { unsigned short bits; };
typedef unsigned short vh __attribute__((vector_size(2 * W)));
typedef short vs __attribute__((vector_size(2 * W)));
typedef unsigned vu __attribute__((vector_size(4 * W)));

#if defined(__AVX2__) && !defined(__AVX512F__) && !defined(__clang__)
HELPER vu widen(vh h) { return (vu)__builtin_ia32_pmovzxwd256((vs)h); }  // convertvector takes four
#else
HELPER vu widen(vh h) { return __builtin_convertvector(h, vu); }
#endif
HELPER vf widen_bf16(vh h) { return (vf)(widen(h) << 16); }
HELPER vi rounded_bf16(vf a) {  // the upper half is the result; NaN stays NaN
  const vi bits = (vi)a, even = bits + 0x7fff + ((bits >> 16) & 1);
  return a != a ? bits | 0x400000 : even;
}
HELPER vh narrow_bf16(vf a) { return __builtin_convertvector((vu)rounded_bf16(a) >> 16, vh); }
HELPER vf round_bf16(vf a) { return (vf)(rounded_bf16(a) & (int)0xffff0000); }

#if defined(__clang__) && defined(__F16C__)
typedef _Float16 half_lanes __attribute__((vector_size(2 * W)));
HELPER vf widen_f16(vh h) { return __builtin_convertvector((half_lanes)h, vf); }
HELPER vh narrow_f16(vf a) { return (vh)__builtin_convertvector(a, half_lanes); }
#elif defined(__AVX2__) && defined(__F16C__) && !defined(__AVX512F__)
HELPER vf widen_f16(vh h) { return __builtin_ia32_vcvtph2ps256((vs)h); }
HELPER vh narrow_f16(vf a) { return (vh)__builtin_ia32_vcvtps2ph256(a, 0); }
#elif defined(__AVX512F__)
HELPER vf widen_f16(vh h) { return __builtin_ia32_vcvtph2ps512_mask((vs)h, vf{}, -1, 4); }
HELPER vh narrow_f16(vf a) { return (vh)__builtin_ia32_vcvtps2ph512_mask(a, 8, vs{}, -1); }
#else
HELPER vf widen_f16(vh h) {
  const vi bits = (vi)widen(h), rest = (bits & 0x7fff) << 13;
  const vi finite = (vi)((vf)rest * 0x1p112f);  // moves the exponent, denormals included
  return (vf)((rest < 0x0f800000 ? finite : rest | 0x7f800000) | (bits & 0x8000) << 16);
}
HELPER vh narrow_f16(vf a) {
  const vi bits = (vi)a, rest = bits & 0x7fffffff;
  const vi normal = (rest - (112 << 23) + 0xfff + ((rest >> 13) & 1)) >> 13;
  const vi tiny = (vi)((vf)rest + 0.5f) - 0x3f000000;  // 0.5's last bit is f16's smallest step
  const vi finite = rest < 0x38800000 ? tiny : normal;
  const vi inf = (vi{} + 0x7c00), nan = vi{} + 0x7e00;
  const vi large = rest > 0x7f800000 ? nan : inf;
  const vi y = (rest < 0x477ff000 ? finite : large) | ((bits >> 16) & 0x8000);
  return __builtin_convertvector((vu)y, vh);
}
#endif
HELPER vf round_f16(vf a) { return widen_f16(narrow_f16(a)); }

template <class M> HELPER vf load(const bf16* p, M mask) {
  return widen_bf16(load_as<vh>(&p->bits, mask));
}
template <class M> HELPER vf load(const f16* p, M mask) {
  return widen_f16(load_as<vh>(&p->bits, mask));
}
template <class M> HELPER void store(bf16* p, vf v, M mask) {
  store_as(&p->bits, narrow_bf16(v), mask);
}
template <class M> HELPER void store(f16* p, vf v, M mask) {
  store_as(&p->bits, narrow_f16(v), mask);
}
