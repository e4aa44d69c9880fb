extern "C" __global__ void __launch_bounds__(512)
rms_norm(const float* __restrict__ x, const float* __restrict__ residual,
         const float* __restrict__ weight, float* __restrict__ h, float* __restrict__ y, int cols,
         float eps) {
  __shared__ float slots[1][16];
  const int row = blockIdx.x;
  const long long row_start = static_cast<long long>(row) * cols;

  // h = x + residual   (functions.py:13)
  // rstd = torch.rsqrt(h.square().mean(-1, keepdim=True) + eps)   (functions.py:14)
  float row_sum = 0.0f;
  #pragma unroll 2
  for (int col = threadIdx.x * 4; col < cols; col += 2048) {
    const Vec<float, 4> x_v = load<4>(x + row_start + col);
    const Vec<float, 4> residual_v = load<4>(residual + row_start + col);
    Vec<float, 4> h_v;
    #pragma unroll
    for (int v = 0; v < 4; ++v) {
      h_v[v] = x_v[v] + residual_v[v];
      row_sum += h_v[v] * h_v[v];
    }
    store<4>(h + row_start + col, h_v);
  }
  row_sum = block_reduce<Sum, 512>(row_sum, slots[0]);
  const float rstd = 1.0f / sqrtf(row_sum / static_cast<float>(cols) + eps);

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
