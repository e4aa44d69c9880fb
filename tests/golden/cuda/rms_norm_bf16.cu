extern "C" __global__ void __launch_bounds__(256, 4)
rms_norm(const bfloat16* __restrict__ x, const bfloat16* __restrict__ residual,
         const bfloat16* __restrict__ weight, bfloat16* __restrict__ h, bfloat16* __restrict__ y,
         int cols, float eps) {
  __shared__ float slots[1][8];
  const int row = blockIdx.x;
  const long long row_start = static_cast<long long>(row) * cols;
  Vec<bfloat16, 8> h_v[4];

  // h = x + residual   (functions.py:13)
  // rstd = torch.rsqrt(h.square().mean(-1, keepdim=True) + eps)   (functions.py:14)
  float row_sum = 0.0f;
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
        row_sum += round_bf16(h_i * h_i);
      }
      store<8>(h + row_start + col, h_v[j]);
    }
  }
  row_sum = block_reduce<Sum, 256>(row_sum, slots[0]);
  const float rsqrt_value = 1.0f / sqrtf(round_bf16(round_bf16(row_sum
      / static_cast<float>(cols)) + eps));
  const float rstd = round_bf16(rsqrt_value);

  // y = h * rstd * weight   (functions.py:15)
  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int col = (j * 256 + threadIdx.x) * 8;
    if (col < cols) {
      const Vec<bfloat16, 8> weight_v = load<8>(weight + col);
      Vec<bfloat16, 8> y_v;
      #pragma unroll
      for (int v = 0; v < 8; ++v) {
        const float mul_value = round_bf16(widen_bf16(h_v[j][v]) * rstd) * widen_bf16(weight_v[v]);
        y_v[v] = narrow_bf16(mul_value);
      }
      store<8>(y + row_start + col, y_v);
    }
  }
}
