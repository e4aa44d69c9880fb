// needs: store
// Group 0 leaves what this block has found of its BX * V columns.
template <int BX, class T, int V>
__device__ __forceinline__ void leave_columns(T* part, const Vec<T, V>& value) {
  const int at = (blockIdx.y * gridDim.x + blockIdx.x) * BX + threadIdx.x;
  if (threadIdx.y == 0) store<V>(part + at * V, value);
}
