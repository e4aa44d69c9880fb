// An index out of range ends the launch, as in PyTorch's own kernels: nothing is clamped.
__device__ __forceinline__ long long in_range(long long at, long long size) {
  if (at < 0 || at >= size) __trap();
  return at;
}
