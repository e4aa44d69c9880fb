// An index out of range marks the call as failed: nothing it wrote is used.
__device__ __forceinline__ int checked_index(long long at, int size, int* status) {
  if (at >= 0 && at < size) return static_cast<int>(at);
  atomicOr(status, 1);
  return 0;
}
