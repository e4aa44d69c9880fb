// needs: vec narrow_f16
template <int V>
__device__ __forceinline__ void store(float16* at, const Vec<float, V>& a, int left) {
  #pragma unroll
  for (int v = 0; v < V; ++v) {
    if (v < left) at[v] = narrow_f16(a[v]);
  }
}
