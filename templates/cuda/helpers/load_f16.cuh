// needs: vec widen_f16
template <int V>
__device__ __forceinline__ Vec<float, V> load(const float16* at) {
  const Vec<float16, V> narrow = *reinterpret_cast<const Vec<float16, V>*>(at);
  Vec<float, V> a;
  #pragma unroll
  for (int v = 0; v < V; ++v) a[v] = widen_f16(narrow[v]);
  return a;
}
