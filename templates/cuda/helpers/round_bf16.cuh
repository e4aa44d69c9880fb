// needs: widen_bf16 narrow_bf16
__device__ __forceinline__ float round_bf16(float a) { return widen_bf16(narrow_bf16(a)); }
