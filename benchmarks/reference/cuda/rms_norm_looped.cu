// nvrtc --gpu-architecture=sm_90 --std=c++17 --fmad=false

// Every lane gets the result of its group of LANES, a power of two.
template <class Op, int LANES = 32, class T>
__device__ __forceinline__ T warp_reduce(T value) {
  #pragma unroll
  for (int step = LANES / 2; step > 0; step /= 2) {
    value = Op::combine(value, __shfl_xor_sync(0xffffffffu, value, step));
  }
  return value;
}

// Every thread of the NT gets the result. One barrier: each reduction has a slot of its own.
template <class Op, int NT, class T>
__device__ __forceinline__ T block_reduce(T value, T* slot) {
  value = warp_reduce<Op>(value);
  if (threadIdx.x % 32 == 0) slot[threadIdx.x / 32] = value;
  __syncthreads();
  return warp_reduce<Op, NT / 32>(slot[threadIdx.x % (NT / 32)]);
}

// V lanes of T that move as one access of at most 16 bytes.
template <class T, int V>
struct alignas(sizeof(T) * V < 16 ? sizeof(T) * V : 16) Vec {
  T lane[V];
  __device__ __forceinline__ T& operator[](int v) { return lane[v]; }
  __device__ __forceinline__ const T& operator[](int v) const { return lane[v]; }
};

// V lanes from an address aligned to the vector.
template <int V, class T>
__device__ __forceinline__ Vec<T, V> load(const T* at) {
  return *reinterpret_cast<const Vec<T, V>*>(at);
}

// V lanes to an address aligned to the vector.
template <int V, class T>
__device__ __forceinline__ void store(T* at, const Vec<T, V>& a) {
  *reinterpret_cast<Vec<T, V>*>(at) = a;
}

struct Sum {
  template <class T>
  static __device__ __forceinline__ T combine(T a, T b) {
    return a + b;
  }
};

// One block per row of any length. A thread reads back the columns of h that it wrote.
extern "C" __global__ void __launch_bounds__(512)
rms_norm(const float* __restrict__ x, const float* __restrict__ residual,
         const float* __restrict__ weight, float* __restrict__ h, float* __restrict__ y, int cols,
         float eps) {
  __shared__ float slots[1][16];
  const long long row_start = static_cast<long long>(blockIdx.x) * cols;

  // h = x + residual   (functions.py:13)
  // rstd = torch.rsqrt(h.square().mean(-1, keepdim=True) + eps)   (functions.py:14)
  float sum = 0.0f;
  #pragma unroll 2
  for (int col = threadIdx.x * 4; col < cols; col += 2048) {
    const Vec<float, 4> x_v = load<4>(x + row_start + col);
    const Vec<float, 4> residual_v = load<4>(residual + row_start + col);
    Vec<float, 4> h_v;
    #pragma unroll
    for (int v = 0; v < 4; ++v) {
      h_v[v] = x_v[v] + residual_v[v];
      sum += h_v[v] * h_v[v];
    }
    store<4>(h + row_start + col, h_v);
  }
  sum = block_reduce<Sum, 512>(sum, slots[0]);
  const float rstd = 1.0f / sqrtf(sum / static_cast<float>(cols) + eps);

  // y = h * rstd * weight   (functions.py:15)
  #pragma unroll 2
  for (int col = threadIdx.x * 4; col < cols; col += 2048) {
    const Vec<float, 4> h_v = load<4>(h + row_start + col);
    const Vec<float, 4> weight_v = load<4>(weight + col);
    Vec<float, 4> y_v;
    #pragma unroll
    for (int v = 0; v < 4; ++v) {
      y_v[v] = h_v[v] * rstd * weight_v[v];
    }
    store<4>(y + row_start + col, y_v);
  }
}
