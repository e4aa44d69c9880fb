extern "C" __global__ void __launch_bounds__(256)
bias_gelu(const bfloat16* __restrict__ x, const bfloat16* __restrict__ bias,
          const bfloat16* __restrict__ residual, bfloat16* __restrict__ out, int rows, int cols) {
  const int col = (blockIdx.y * blockDim.x + threadIdx.x) * 8;
  if (col >= cols) return;
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const int row = (blockIdx.x * 2 + j) * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    const long long row_start = static_cast<long long>(row) * cols;
    // h = x + bias   (functions.py:8)
    // return F.gelu(h, approximate="tanh") + residual   (functions.py:9)
    const Vec<bfloat16, 8> x_v = load<8>(x + row_start + col);
    const Vec<bfloat16, 8> bias_v = load<8>(bias + col);
    const Vec<bfloat16, 8> residual_v = load<8>(residual + row_start + col);
    Vec<bfloat16, 8> out_v;
    #pragma unroll
    for (int v = 0; v < 8; ++v) {
      const float h = round_bf16(widen_bf16(x_v[v]) + widen_bf16(bias_v[v]));
      const float mul_value = 0.5f * h * (1.0f + tanhf(0.7978846f * (h + 0.044715f * (h * h * h))));
      out_v[v] = narrow_bf16(round_bf16(mul_value) + widen_bf16(residual_v[v]));
    }
    store<8>(out + row_start + col, out_v);
  }
}
