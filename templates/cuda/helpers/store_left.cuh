// needs: vec
// The same lanes one by one, to any address; lanes past the `left` that exist are dropped.
template <int V, class T>
__device__ __forceinline__ void store(T* at, const Vec<T, V>& a, int left) {
  #pragma unroll
  for (int v = 0; v < V; ++v) {
    if (v < left) at[v] = a[v];
  }
}
