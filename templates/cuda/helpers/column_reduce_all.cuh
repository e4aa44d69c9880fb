// needs: column_reduce
// The same for every group, and the tile is free again. Barriers: log2(BY) + 2.
template <class Op, int BX, int BY, class T, int V>
__device__ __forceinline__ Vec<T, V> column_reduce_all(Vec<T, V> value, Vec<T, V> (*tile)[BX]) {
  column_reduce<Op, BX, BY>(value, tile);
  __syncthreads();
  value = tile[0][threadIdx.x];
  __syncthreads();
  return value;
}
