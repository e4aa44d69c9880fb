// Every lane gets the result of its group of LANES, a power of two.
template <class Op, int LANES = 32, class T>
__device__ __forceinline__ T warp_reduce(T value) {
  #pragma unroll
  for (int step = LANES / 2; step > 0; step /= 2) {
    value = Op::combine(value, __shfl_xor_sync(0xffffffffu, value, step));
  }
  return value;
}
