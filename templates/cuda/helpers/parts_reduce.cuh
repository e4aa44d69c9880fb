// needs: block_reduce
// Combines what the blocks of this row have left, in a fixed order; every thread gets it.
template <class Op, int NT, class T>
__device__ __forceinline__ T parts_reduce(T value, const T* part, T* slot) {
  #pragma unroll 1
  for (int share = threadIdx.x; share < gridDim.y; share += NT) {
    value = Op::combine(value, part[blockIdx.x * gridDim.y + share]);
  }
  return block_reduce<Op, NT>(value, slot);
}
