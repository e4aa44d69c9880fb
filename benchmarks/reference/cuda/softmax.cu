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

#define INFINITY __int_as_float(0x7f800000)

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

// The larger, or NaN when either is NaN, as in torch.maximum.
__device__ __forceinline__ float max_nan(float a, float b) {
  float larger;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(a), "f"(b));
  return larger;
}

struct Max {
  static __device__ __forceinline__ float combine(float a, float b) { return max_nan(a, b); }
};

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

// One block per row. A thread keeps 4 x 4 columns in registers: rows of up to 4096.
extern "C" __global__ void __launch_bounds__(256)
softmax(const float* __restrict__ x, float* __restrict__ out, int cols) {
  __shared__ float slots[2][8];
  const long long row_start = static_cast<long long>(blockIdx.x) * cols;
  Vec<float, 4> x_v[4];
  Vec<float, 4> exp_v[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int col = (j * 256 + threadIdx.x) * 4;
    if (col < cols) {
      x_v[j] = load<4>(x + row_start + col);
    }
  }

  // return torch.softmax(x, dim=-1)   (functions.py:20)
  float amax = -INFINITY;
  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int col = (j * 256 + threadIdx.x) * 4;
    if (col < cols) {
      #pragma unroll
      for (int v = 0; v < 4; ++v) {
        amax = max_nan(amax, x_v[j][v]);
      }
    }
  }
  amax = block_reduce<Max, 256>(amax, slots[0]);

  float sum = 0.0f;
  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int col = (j * 256 + threadIdx.x) * 4;
    if (col < cols) {
      #pragma unroll
      for (int v = 0; v < 4; ++v) {
        exp_v[j][v] = expf(x_v[j][v] - amax);
        sum += exp_v[j][v];
      }
    }
  }
  sum = block_reduce<Sum, 256>(sum, slots[1]);
  const float scale = 1.0f / sum;

  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int col = (j * 256 + threadIdx.x) * 4;
    if (col < cols) {
      Vec<float, 4> out_v;
      #pragma unroll
      for (int v = 0; v < 4; ++v) {
        out_v[v] = exp_v[j][v] * scale;
      }
      store<4>(out + row_start + col, out_v);
    }
  }
}
