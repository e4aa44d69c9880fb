// needs: vec narrow_f16
template <int V>
__device__ __forceinline__ void store(float16* at, const Vec<float, V>& a) {
  Vec<float16, V> narrow;
  #pragma unroll
  for (int v = 0; v < V; ++v) narrow[v] = narrow_f16(a[v]);
  *reinterpret_cast<Vec<float16, V>*>(at) = narrow;
}
