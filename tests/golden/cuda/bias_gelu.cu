extern "C" __global__ void __launch_bounds__(256)
bias_gelu(const float* __restrict__ x, const float* __restrict__ bias,
          const float* __restrict__ residual, float* __restrict__ out, int rows, int cols) {
  const int col = (blockIdx.y * blockDim.x + threadIdx.x) * 4;
  if (col >= cols) return;
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const int row = (blockIdx.x * 2 + j) * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    const long long row_start = static_cast<long long>(row) * cols;
    // h = x + bias   (functions.py:8)
    // return F.gelu(h, approximate="tanh") + residual   (functions.py:9)
    const Vec<float, 4> x_v = load<4>(x + row_start + col);
    const Vec<float, 4> bias_v = load<4>(bias + col);
    const Vec<float, 4> residual_v = load<4>(residual + row_start + col);
    Vec<float, 4> out_v;
    #pragma unroll
    for (int v = 0; v < 4; ++v) {
      const float h = x_v[v] + bias_v[v];
      const float mul_value = 0.5f * h * (1.0f + tanhf(0.7978846f * (h + 0.044715f * (h * h * h))));
      out_v[v] = mul_value + residual_v[v];
    }
    store<4>(out + row_start + col, out_v);
  }
}
