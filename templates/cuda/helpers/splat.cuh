// needs: vec
// V lanes of one value.
template <int V, class T>
__device__ __forceinline__ Vec<T, V> splat(T value) {
  Vec<T, V> a;
  #pragma unroll
  for (int v = 0; v < V; ++v) a[v] = value;
  return a;
}
