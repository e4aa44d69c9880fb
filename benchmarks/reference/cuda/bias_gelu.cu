// nvrtc --gpu-architecture=sm_90 --std=c++17 --fmad=false

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

// A thread computes 4 columns of 2 rows; the shape of the block follows the length of a row.
extern "C" __global__ void __launch_bounds__(256)
bias_gelu(const float* __restrict__ x, const float* __restrict__ bias,
          const float* __restrict__ residual, float* __restrict__ out, int rows, int cols) {
  const int col = (blockIdx.y * blockDim.x + threadIdx.x) * 4;
  if (col >= cols) return;
  const Vec<float, 4> bias_v = load<4>(bias + col);
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const int row = (blockIdx.x * 2 + j) * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    const long long row_start = static_cast<long long>(row) * cols;
    const Vec<float, 4> x_v = load<4>(x + row_start + col);
    const Vec<float, 4> residual_v = load<4>(residual + row_start + col);
    Vec<float, 4> out_v;
    #pragma unroll
    for (int v = 0; v < 4; ++v) {
      // h = x + bias   (functions.py:8)
      const float h = x_v[v] + bias_v[v];
      // return F.gelu(h, approximate="tanh") + residual   (functions.py:9)
      const float tanh_i = tanhf(0.7978846f * (h + 0.044715f * (h * h * h)));
      out_v[v] = 0.5f * h * (1.0f + tanh_i) + residual_v[v];
    }
    store<4>(out + row_start + col, out_v);
  }
}
