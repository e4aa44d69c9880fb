// needs: float16
__device__ __forceinline__ float widen_f16(float16 a) {
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(a.bits));
  return wide;
}
