// needs: warp_reduce
// Every thread of the NT gets the result. One barrier: each reduction has a slot of its own.
template <class Op, int NT, class T>
__device__ __forceinline__ T block_reduce(T value, T* slot) {
  value = warp_reduce<Op>(value);
  if (threadIdx.x % 32 == 0) slot[threadIdx.x / 32] = value;
  __syncthreads();
  return warp_reduce<Op, NT / 32>(slot[threadIdx.x % (NT / 32)]);
}
