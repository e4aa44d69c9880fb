// needs: vec
// The same lanes one by one, from any address; lanes past the `left` that exist are zero.
template <int V, class T>
__device__ __forceinline__ Vec<T, V> load(const T* at, int left) {
  Vec<T, V> a;
  #pragma unroll
  for (int v = 0; v < V; ++v) a[v] = v < left ? at[v] : T();
  return a;
}
