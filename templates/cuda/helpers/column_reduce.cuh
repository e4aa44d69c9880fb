// needs: vec
// Combines the vectors of BY groups of BX threads, lane by lane, in a tree; group 0 gets the
// result. Barriers: log2(BY). Call it again only after one more.
template <class Op, int BX, int BY, class T, int V>
__device__ __forceinline__ Vec<T, V> column_reduce(Vec<T, V> value, Vec<T, V> (*tile)[BX]) {
  const int lane = threadIdx.x, group = threadIdx.y;
  tile[group][lane] = value;
  #pragma unroll
  for (int step = BY / 2; step > 0; step /= 2) {
    __syncthreads();
    if (group < step) {
      #pragma unroll
      for (int v = 0; v < V; ++v) {
        value[v] = Op::combine(value[v], tile[group + step][lane][v]);
      }
      tile[group][lane] = value;
    }
  }
  return value;
}
