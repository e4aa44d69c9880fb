// needs: vec widen_f16
template <int V>
__device__ __forceinline__ Vec<float, V> load(const float16* at, int left) {
  Vec<float, V> a;
  #pragma unroll
  for (int v = 0; v < V; ++v) a[v] = v < left ? widen_f16(at[v]) : 0.0f;
  return a;
}
