// needs: vec widen_bf16
template <int V>
__device__ __forceinline__ Vec<float, V> load(const bfloat16* at, int left) {
  Vec<float, V> a;
  #pragma unroll
  for (int v = 0; v < V; ++v) a[v] = v < left ? widen_bf16(at[v]) : 0.0f;
  return a;
}
