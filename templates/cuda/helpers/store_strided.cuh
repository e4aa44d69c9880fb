// needs: vec
// The `left` lanes that exist, `stride` elements apart.
template <class T, int V>
__device__ __forceinline__ void store_strided(T* at, long long stride, const Vec<T, V>& a,
                                              int left) {
  #pragma unroll
  for (int v = 0; v < V; ++v) {
    if (v < left) at[v * stride] = a[v];
  }
}
