extern "C" __global__ void __launch_bounds__(512)
softmax(const float* __restrict__ x, float* __restrict__ out, int cols) {
  __shared__ float slots[2][16];
  const int row = blockIdx.x;
  const long long row_start = static_cast<long long>(row) * cols;

  // return torch.softmax(x, dim=-1)   (functions.py:20)
  float row_max = -INFINITY;
  #pragma unroll 2
  for (int col = threadIdx.x * 4; col < cols; col += 2048) {
    const Vec<float, 4> x_v = load<4>(x + row_start + col);
    #pragma unroll
    for (int v = 0; v < 4; ++v) {
      row_max = Max::combine(row_max, x_v[v]);
    }
  }
  row_max = block_reduce<Max, 512>(row_max, slots[0]);

  float row_sum = 0.0f;
  #pragma unroll 2
  for (int col = threadIdx.x * 4; col < cols; col += 2048) {
    const Vec<float, 4> x_v = load<4>(x + row_start + col);
    #pragma unroll
    for (int v = 0; v < 4; ++v) {
      row_sum += expf(x_v[v] - row_max);
    }
  }
  row_sum = block_reduce<Sum, 512>(row_sum, slots[1]);

  #pragma unroll 2
  for (int col = threadIdx.x * 4; col < cols; col += 2048) {
    const Vec<float, 4> x_v = load<4>(x + row_start + col);
    Vec<float, 4> out_v;
    #pragma unroll
    for (int v = 0; v < 4; ++v) {
      out_v[v] = expf(x_v[v] - row_max) / row_sum;
    }
    store<4>(out + row_start + col, out_v);
  }
}
