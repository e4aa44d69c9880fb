// needs: column_reduce_all load
// Combines what the blocks of these columns have left, in a fixed order; every group gets it.
template <class Op, int BX, int BY, class T, int V>
__device__ __forceinline__ Vec<T, V> column_parts_reduce(Vec<T, V> value, const T* part,
                                                         Vec<T, V> (*tile)[BX]) {
  #pragma unroll 1
  for (int share = threadIdx.y; share < gridDim.y; share += BY) {
    const int at = (share * gridDim.x + blockIdx.x) * BX + threadIdx.x;
    const Vec<T, V> found = load<V>(part + at * V);
    #pragma unroll
    for (int v = 0; v < V; ++v) value[v] = Op::combine(value[v], found[v]);
  }
  return column_reduce_all<Op, BX, BY>(value, tile);
}
