extern "C" __global__ void __launch_bounds__(128)
rms_norm(const float* __restrict__ x, const float* __restrict__ residual,
         const float* __restrict__ weight, float* __restrict__ h, float* __restrict__ y, int rows,
         int cols, float eps) {
  const int row = blockIdx.x * 4 + threadIdx.y;
  const bool inside = row < rows;
  const long long row_start = static_cast<long long>(row) * cols;
  Vec<float, 4> h_v[1];

  // h = x + residual   (functions.py:13)
  // rstd = torch.rsqrt(h.square().mean(-1, keepdim=True) + eps)   (functions.py:14)
  float row_sum = 0.0f;
  #pragma unroll
  for (int j = 0; j < 1; ++j) {
    const int col = (j * 32 + threadIdx.x) * 4;
    if (inside && col < cols) {
      const Vec<float, 4> x_v = load<4>(x + row_start + col, cols - col);
      const Vec<float, 4> residual_v = load<4>(residual + row_start + col, cols - col);
      #pragma unroll
      for (int v = 0; v < 4; ++v) {
        if (col + v >= cols) break;
        h_v[j][v] = x_v[v] + residual_v[v];
        row_sum += h_v[j][v] * h_v[j][v];
      }
      store<4>(h + row_start + col, h_v[j], cols - col);
    }
  }
  row_sum = warp_reduce<Sum, 32>(row_sum);
  const float rstd = 1.0f / sqrtf(row_sum / static_cast<float>(cols) + eps);

  // y = h * rstd * weight   (functions.py:15)
  #pragma unroll
  for (int j = 0; j < 1; ++j) {
    const int col = (j * 32 + threadIdx.x) * 4;
    if (inside && col < cols) {
      const Vec<float, 4> weight_v = load<4>(weight + col, cols - col);
      Vec<float, 4> y_v;
      #pragma unroll
      for (int v = 0; v < 4; ++v) {
        y_v[v] = h_v[j][v] * rstd * weight_v[v];
      }
      store<4>(y + row_start + col, y_v, cols - col);
    }
  }
}
