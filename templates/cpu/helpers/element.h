// needs: core half
// One element at a time: 16-bit floats widen when read and round when written.
HELPER float element(const bf16& a) { return widen_bf16(vh{} + a.bits)[0]; }
HELPER float element(const f16& a) { return widen_f16(vh{} + a.bits)[0]; }
HELPER void put(bf16& at, float v) { at.bits = narrow_bf16(fill(v))[0]; }
HELPER void put(f16& at, float v) { at.bits = narrow_f16(fill(v))[0]; }
HELPER float round_bf16(float a) { return round_bf16(fill(a))[0]; }
HELPER float round_f16(float a) { return round_f16(fill(a))[0]; }
