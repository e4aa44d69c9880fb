// A step of 0, which Python's range refuses, ends the launch.
__device__ __forceinline__ void check_step(long long step) {
  if (step == 0) __trap();
}
