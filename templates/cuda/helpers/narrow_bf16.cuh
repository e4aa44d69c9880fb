// needs: bfloat16
// Rounds to nearest even.
__device__ __forceinline__ bfloat16 narrow_bf16(float a) {
  bfloat16 narrow;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(narrow.bits) : "f"(a));
  return narrow;
}
