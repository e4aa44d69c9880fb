extern "C" __global__ void __launch_bounds__(256, 2)
softmax(const float* __restrict__ x, float* __restrict__ out, int cols) {
  __shared__ float slots[2][8];
  const int row = blockIdx.x;
  const long long row_start = static_cast<long long>(row) * cols;
  Vec<float, 4> x_v[4];
  Vec<float, 4> exp_v[4];

  // return torch.softmax(x, dim=-1)   (functions.py:20)
  float row_max = -INFINITY;
  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int col = (j * 256 + threadIdx.x) * 4;
    if (col < cols) {
      x_v[j] = load<4>(x + row_start + col, cols - col);
      #pragma unroll
      for (int v = 0; v < 4; ++v) {
        if (col + v >= cols) break;
        row_max = Max::combine(row_max, x_v[j][v]);
      }
    }
  }
  row_max = block_reduce<Max, 256>(row_max, slots[0]);

  float row_sum = 0.0f;
  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int col = (j * 256 + threadIdx.x) * 4;
    if (col < cols) {
      #pragma unroll
      for (int v = 0; v < 4; ++v) {
        if (col + v >= cols) break;
        exp_v[j][v] = expf(x_v[j][v] - row_max);
        row_sum += exp_v[j][v];
      }
    }
  }
  row_sum = block_reduce<Sum, 256>(row_sum, slots[1]);

  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int col = (j * 256 + threadIdx.x) * 4;
    if (col < cols) {
      Vec<float, 4> out_v;
      #pragma unroll
      for (int v = 0; v < 4; ++v) {
        out_v[v] = exp_v[j][v] / row_sum;
      }
      store<4>(out + row_start + col, out_v, cols - col);
    }
  }
}
