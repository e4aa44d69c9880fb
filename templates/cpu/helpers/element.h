// needs: core half
// One element at a time, in operations of which the compiler makes vectors: 16-bit floats widen
// when read and round to nearest even when written.
HELPER float element(const bf16& a) { return __builtin_bit_cast(float, (unsigned)a.bits << 16); }
HELPER float element(const f16& a) {
  const unsigned rest = (a.bits & 0x7fffu) << 13;
  const unsigned finite = __builtin_bit_cast(unsigned, __builtin_bit_cast(float, rest) * 0x1p112f);
  const unsigned size = rest < 0x0f800000 ? finite : rest | 0x7f800000;
  return __builtin_bit_cast(float, size | (a.bits & 0x8000u) << 16);
}
HELPER int rounded_bf16(float a) {  // the upper half is the result; NaN stays NaN
  const int bits = __builtin_bit_cast(int, a), even = bits + 0x7fff + ((bits >> 16) & 1);
  return a != a ? bits | 0x400000 : even;
}
HELPER void put(bf16& at, float v) { at.bits = (unsigned short)((unsigned)rounded_bf16(v) >> 16); }
HELPER void put(f16& at, float v) { at.bits = narrow_f16(fill(v))[0]; }
HELPER float round_bf16(float a) {
  return __builtin_bit_cast(float, rounded_bf16(a) & (int)0xffff0000);
}
HELPER float round_f16(float a) { return round_f16(fill(a))[0]; }
