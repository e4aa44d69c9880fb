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

#define INFINITY __int_as_float(0x7f800000)

// V lanes of T that move as one access of at most 16 bytes.
template <class T, int V>
struct alignas(sizeof(T) * V < 16 ? sizeof(T) * V : 16) Vec {
  T lane[V];
  __device__ __forceinline__ T& operator[](int v) { return lane[v]; }
  __device__ __forceinline__ const T& operator[](int v) const { return lane[v]; }
};

// Keeps 16-bit lanes packed in registers, where the compiler would keep the floats made of them.
template <class T, int V>
__device__ __forceinline__ Vec<T, V>& keep_packed(Vec<T, V>& a) {
  unsigned* words = reinterpret_cast<unsigned*>(a.lane);
  #pragma unroll
  for (int i = 0; i < V / 2; ++i) asm volatile("" : "+r"(words[i]));
  return a;
}

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

// Rounds to nearest even.
__device__ __forceinline__ bfloat16 narrow_bf16(float a) {
  bfloat16 narrow;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(narrow.bits) : "f"(a));
  return narrow;
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

__device__ __forceinline__ float widen_bf16(bfloat16 a) {
  return __uint_as_float(static_cast<unsigned>(a.bits) << 16);
}

// One block per row. A thread keeps 4 x 8 columns of x, packed: rows of up to 8192.
extern "C" __global__ void __launch_bounds__(256)
softmax(const bfloat16* __restrict__ x, bfloat16* __restrict__ out, int cols) {
  __shared__ float slots[2][8];
  const long long row_start = static_cast<long long>(blockIdx.x) * cols;
  Vec<bfloat16, 8> x_v[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int col = (j * 256 + threadIdx.x) * 8;
    if (col < cols) {
      x_v[j] = load<8>(x + row_start + col);
    }
  }

  // return torch.softmax(x, dim=-1)   (functions.py:20)
  float amax = -INFINITY;
  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int col = (j * 256 + threadIdx.x) * 8;
    if (col < cols) {
      #pragma unroll
      for (int v = 0; v < 8; ++v) {
        amax = max_nan(amax, widen_bf16(x_v[j][v]));
      }
      keep_packed(x_v[j]);
    }
  }
  amax = block_reduce<Max, 256>(amax, slots[0]);

  float sum = 0.0f;
  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int col = (j * 256 + threadIdx.x) * 8;
    if (col < cols) {
      #pragma unroll
      for (int v = 0; v < 8; ++v) {
        sum += expf(widen_bf16(x_v[j][v]) - amax);
      }
      keep_packed(x_v[j]);
    }
  }
  sum = block_reduce<Sum, 256>(sum, slots[1]);
  const float scale = 1.0f / sum;

  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int col = (j * 256 + threadIdx.x) * 8;
    if (col < cols) {
      Vec<bfloat16, 8> out_v;
      #pragma unroll
      for (int v = 0; v < 8; ++v) {
        out_v[v] = narrow_bf16(expf(widen_bf16(x_v[j][v]) - amax) * scale);
      }
      store<8>(out + row_start + col, out_v);
    }
  }
}
