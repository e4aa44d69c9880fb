// True in the block that counts last: it sees what the others wrote before they counted. The
// counter is 0 again afterwards.
__device__ __forceinline__ bool last_block(unsigned* arrived) {
  __threadfence();
  __syncthreads();
  const unsigned last = gridDim.x - 1;
  const bool counted = threadIdx.x == 0 && atomicInc(arrived, last) == last;
  if (!__syncthreads_or(counted)) return false;
  __threadfence();
  return true;
}
