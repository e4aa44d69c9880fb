// nvrtc --gpu-architecture=sm_90 --std=c++17 --fmad=false

// V lanes of T that move as one access of at most 16 bytes.
template <class T, int V>
struct alignas(sizeof(T) * V < 16 ? sizeof(T) * V : 16) Vec {
  T lane[V];
  __device__ __forceinline__ T& operator[](int v) { return lane[v]; }
  __device__ __forceinline__ const T& operator[](int v) const { return lane[v]; }
};

// Combines the vectors of BY groups of BX threads, lane by lane, in a tree; group 0 gets the
// result. Barriers: log2(BY). Call it again only after one more.
template <class Op, int BX, int BY, class T, int V>
__device__ __forceinline__ Vec<T, V> column_reduce(Vec<T, V> value, Vec<T, V> (*tile)[BX]) {
  const int lane = threadIdx.x, group = threadIdx.y;
  tile[group][lane] = value;
  #pragma unroll
  for (int step = BY / 2; step > 0; step /= 2) {
    __syncthreads();
    if (group < step) {
      #pragma unroll
      for (int v = 0; v < V; ++v) {
        value[v] = Op::combine(value[v], tile[group + step][lane][v]);
      }
      tile[group][lane] = value;
    }
  }
  return value;
}

// V lanes from an address aligned to the vector.
template <int V, class T>
__device__ __forceinline__ Vec<T, V> load(const T* at) {
  return *reinterpret_cast<const Vec<T, V>*>(at);
}

// V lanes of one value.
template <int V, class T>
__device__ __forceinline__ Vec<T, V> splat(T value) {
  Vec<T, V> a;
  #pragma unroll
  for (int v = 0; v < V; ++v) a[v] = value;
  return a;
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

// A block sums a chunk of the rows of 128 columns: 32 lanes x 4 columns, 8 groups of rows.
extern "C" __global__ void __launch_bounds__(256)
square_sum0(const float* __restrict__ x, float* __restrict__ out, float* work, unsigned* arrived,
            int rows, int cols, int chunk) {
  __shared__ Vec<float, 4> tile[8][32];
  __shared__ bool last;
  const int lane = threadIdx.x;
  const int group = threadIdx.y;
  const int col = (blockIdx.x * 32 + lane) * 4;

  // return (x * x).sum(0)   (functions.py:28)
  Vec<float, 4> sum_v = splat<4>(0.0f);
  if (col < cols) {
    const int end = min(rows, static_cast<int>(blockIdx.y + 1) * chunk);
    #pragma unroll 4
    for (int row = blockIdx.y * chunk + group; row < end; row += 8) {
      const Vec<float, 4> x_v = load<4>(x + static_cast<long long>(row) * cols + col);
      #pragma unroll
      for (int v = 0; v < 4; ++v) {
        sum_v[v] += x_v[v] * x_v[v];
      }
    }
  }
  sum_v = column_reduce<Sum, 32, 8>(sum_v, tile);
  if (group == 0 && col < cols) {
    store<4>(work + static_cast<long long>(blockIdx.y) * cols + col, sum_v);
  }

  // The last block of these columns combines the partial sums of all, in a fixed order.
  __threadfence();
  __syncthreads();
  if (lane == 0 && group == 0) last = atomicAdd(arrived + blockIdx.x, 1u) == gridDim.y - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  sum_v = splat<4>(0.0f);
  if (col < cols) {
    #pragma unroll 4
    for (int part = group; part < gridDim.y; part += 8) {
      const Vec<float, 4> part_v = load<4>(work + static_cast<long long>(part) * cols + col);
      #pragma unroll
      for (int v = 0; v < 4; ++v) {
        sum_v[v] += part_v[v];
      }
    }
  }
  sum_v = column_reduce<Sum, 32, 8>(sum_v, tile);
  if (group == 0 && col < cols) store<4>(out + col, sum_v);
  if (lane == 0 && group == 0) arrived[blockIdx.x] = 0;
}
