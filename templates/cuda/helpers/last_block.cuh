// True in the block that counts last of so many: it sees what the others wrote before they counted.
// The counter is 0 again afterwards.
__device__ __forceinline__ bool last_block(unsigned* arrived, unsigned blocks) {
  __threadfence();
  __syncthreads();
  const bool first = threadIdx.x == 0 && threadIdx.y == 0;
  const bool counted = first && atomicInc(arrived, blocks - 1) == blocks - 1;
  if (!__syncthreads_or(counted)) return false;
  __threadfence();
  return true;
}
