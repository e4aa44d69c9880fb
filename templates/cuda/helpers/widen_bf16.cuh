// needs: bfloat16
__device__ __forceinline__ float widen_bf16(bfloat16 a) {
  return __uint_as_float(static_cast<unsigned>(a.bits) << 16);
}
