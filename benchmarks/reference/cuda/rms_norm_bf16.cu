// nvrtc --gpu-architecture=sm_90 --std=c++17 --fmad=false

// In memory only: arithmetic is done in float.
struct bfloat16 {
  unsigned short bits;
};

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

// Rounds to nearest even.
__device__ __forceinline__ bfloat16 narrow_bf16(float a) {
  bfloat16 narrow;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(narrow.bits) : "f"(a));
  return narrow;
}

__device__ __forceinline__ float widen_bf16(bfloat16 a) {
  return __uint_as_float(static_cast<unsigned>(a.bits) << 16);
}

__device__ __forceinline__ float round_bf16(float a) { return widen_bf16(narrow_bf16(a)); }

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

// One block per row. A thread keeps 4 x 8 columns of h, packed: rows of up to 8192.
extern "C" __global__ void __launch_bounds__(256)
rms_norm(const bfloat16* __restrict__ x, const bfloat16* __restrict__ residual,
         const bfloat16* __restrict__ weight, bfloat16* __restrict__ h, bfloat16* __restrict__ y,
         int cols, float eps) {
  __shared__ float slots[1][8];
  const long long row_start = static_cast<long long>(blockIdx.x) * cols;
  Vec<bfloat16, 8> h_v[4];

  // h = x + residual   (functions.py:13)
  // rstd = torch.rsqrt(h.square().mean(-1, keepdim=True) + eps)   (functions.py:14)
  float sum = 0.0f;
  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int col = (j * 256 + threadIdx.x) * 8;
    if (col < cols) {
      const Vec<bfloat16, 8> x_v = load<8>(x + row_start + col);
      const Vec<bfloat16, 8> residual_v = load<8>(residual + row_start + col);
      #pragma unroll
      for (int v = 0; v < 8; ++v) {
        h_v[j][v] = narrow_bf16(widen_bf16(x_v[v]) + widen_bf16(residual_v[v]));
        const float h_i = widen_bf16(h_v[j][v]);
        sum += round_bf16(h_i * h_i);
      }
      store<8>(h + row_start + col, h_v[j]);
    }
  }
  sum = block_reduce<Sum, 256>(sum, slots[0]);
  const float mean = round_bf16(sum / static_cast<float>(cols));
  const float rstd = round_bf16(1.0f / sqrtf(round_bf16(mean + eps)));

  // y = h * rstd * weight   (functions.py:15)
  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int col = (j * 256 + threadIdx.x) * 8;
    if (col < cols) {
      const Vec<bfloat16, 8> weight_v = load<8>(weight + col);
      Vec<bfloat16, 8> y_v;
      #pragma unroll
      for (int v = 0; v < 8; ++v) {
        const float h_i = widen_bf16(h_v[j][v]);
        y_v[v] = narrow_bf16(round_bf16(h_i * rstd) * widen_bf16(weight_v[v]));
      }
      store<8>(y + row_start + col, y_v);
    }
  }
}
