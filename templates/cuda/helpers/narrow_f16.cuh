// needs: float16
// Rounds to nearest even.
__device__ __forceinline__ float16 narrow_f16(float a) {
  float16 narrow;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(narrow.bits) : "f"(a));
  return narrow;
}
