extern "C" __global__ void __launch_bounds__(512)
rms_norm_pass1(const bfloat16* __restrict__ x, const bfloat16* __restrict__ residual,
               bfloat16* __restrict__ h, int cols, float* row_sum_part) {
  __shared__ float slots[1][16];
  const int row = blockIdx.x;
  const long long row_start = static_cast<long long>(row) * cols;

  // h = x + residual   (functions.py:13)
  // rstd = torch.rsqrt(h.square().mean(-1, keepdim=True) + eps)   (functions.py:14)
  float row_sum = 0.0f;
  #pragma unroll 2
  for (int col = (blockIdx.y * 512 + threadIdx.x) * 8; col < cols;
       col += gridDim.y * 4096) {
    const Vec<bfloat16, 8> x_v = load<8>(x + row_start + col);
    const Vec<bfloat16, 8> residual_v = load<8>(residual + row_start + col);
    Vec<bfloat16, 8> h_v;
    #pragma unroll
    for (int v = 0; v < 8; ++v) {
      h_v[v] = narrow_bf16(widen_bf16(x_v[v]) + widen_bf16(residual_v[v]));
      const float h_i = widen_bf16(h_v[v]);
      row_sum += round_bf16(h_i * h_i);
    }
    store<8>(h + row_start + col, h_v);
  }
  row_sum = block_reduce<Sum, 512>(row_sum, slots[0]);
  if (threadIdx.x == 0) row_sum_part[blockIdx.x * gridDim.y + blockIdx.y] = row_sum;
}

extern "C" __global__ void __launch_bounds__(512)
rms_norm_pass2(const bfloat16* __restrict__ weight, bfloat16* __restrict__ h,
               bfloat16* __restrict__ y, int cols, float eps, float* row_sum_part) {
  __shared__ float slots[1][16];
  const int row = blockIdx.x;
  const long long row_start = static_cast<long long>(row) * cols;
  const float row_sum = parts_reduce<Sum, 512>(0.0f, row_sum_part, slots[0]);
  // rstd = torch.rsqrt(h.square().mean(-1, keepdim=True) + eps)   (functions.py:14)
  const float rsqrt_value = 1.0f / sqrtf(round_bf16(round_bf16(row_sum
      / static_cast<float>(cols)) + eps));
  const float rstd = round_bf16(rsqrt_value);

  // y = h * rstd * weight   (functions.py:15)
  #pragma unroll 2
  for (int col = (blockIdx.y * 512 + threadIdx.x) * 8; col < cols;
       col += gridDim.y * 4096) {
    const Vec<bfloat16, 8> h_v = load<8>(h + row_start + col);
    const Vec<bfloat16, 8> weight_v = load<8>(weight + col);
    Vec<bfloat16, 8> y_v;
    #pragma unroll
    for (int v = 0; v < 8; ++v) {
      y_v[v] = narrow_bf16(round_bf16(widen_bf16(h_v[v]) * rstd) * widen_bf16(weight_v[v]));
    }
    store<8>(y + row_start + col, y_v);
  }
}
