extern "C" __global__ void __launch_bounds__(128, 4)
softmax(const float* __restrict__ x, float* __restrict__ out, int rows, int cols) {
  const int row = blockIdx.x * 4 + threadIdx.y;
  const bool inside = row < rows;
  const long long row_start = static_cast<long long>(row) * cols;
  Vec<float, 4> x_v[4];
  Vec<float, 4> exp_v[4];

  // return torch.softmax(x, dim=-1)   (functions.py:20)
  float row_max = -INFINITY;
  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int col = (j * 32 + threadIdx.x) * 4;
    if (inside && col < cols) {
      x_v[j] = load<4>(x + row_start + col);
      #pragma unroll
      for (int v = 0; v < 4; ++v) {
        row_max = Max::combine(row_max, x_v[j][v]);
      }
    }
  }
  row_max = warp_reduce<Max, 32>(row_max);

  float row_sum = 0.0f;
  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int col = (j * 32 + threadIdx.x) * 4;
    if (inside && col < cols) {
      #pragma unroll
      for (int v = 0; v < 4; ++v) {
        exp_v[j][v] = expf(x_v[j][v] - row_max);
        row_sum += exp_v[j][v];
      }
    }
  }
  row_sum = warp_reduce<Sum, 32>(row_sum);

  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int col = (j * 32 + threadIdx.x) * 4;
    if (inside && col < cols) {
      Vec<float, 4> out_v;
      #pragma unroll
      for (int v = 0; v < 4; ++v) {
        out_v[v] = exp_v[j][v] / row_sum;
      }
      store<4>(out + row_start + col, out_v);
    }
  }
}
