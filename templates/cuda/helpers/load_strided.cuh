// needs: vec
// V elements `stride` apart; lanes past the `left` that exist are zero.
template <int V, class T>
__device__ __forceinline__ Vec<T, V> load_strided(const T* at, long long stride, int left) {
  Vec<T, V> a;
  #pragma unroll
  for (int v = 0; v < V; ++v) a[v] = v < left ? at[v * stride] : T();
  return a;
}
