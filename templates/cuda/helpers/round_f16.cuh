// needs: widen_f16 narrow_f16
__device__ __forceinline__ float round_f16(float a) { return widen_f16(narrow_f16(a)); }
