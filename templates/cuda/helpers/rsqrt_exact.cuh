// 1 / sqrt(a), each step rounded correctly, as PyTorch computes it on the CPU.
__device__ __forceinline__ float rsqrt_exact(float a) { return 1.0f / sqrtf(a); }
