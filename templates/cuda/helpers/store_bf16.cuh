// needs: vec narrow_bf16
template <int V>
__device__ __forceinline__ void store(bfloat16* at, const Vec<float, V>& a) {
  Vec<bfloat16, V> narrow;
  #pragma unroll
  for (int v = 0; v < V; ++v) narrow[v] = narrow_bf16(a[v]);
  *reinterpret_cast<Vec<bfloat16, V>*>(at) = narrow;
}
