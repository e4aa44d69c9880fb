// needs: vec widen_bf16
template <int V>
__device__ __forceinline__ Vec<float, V> load(const bfloat16* at) {
  const Vec<bfloat16, V> narrow = *reinterpret_cast<const Vec<bfloat16, V>*>(at);
  Vec<float, V> a;
  #pragma unroll
  for (int v = 0; v < V; ++v) a[v] = widen_bf16(narrow[v]);
  return a;
}
