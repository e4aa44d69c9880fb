// needs: min_nan
struct Min {
  static __device__ __forceinline__ float combine(float a, float b) { return min_nan(a, b); }
};
