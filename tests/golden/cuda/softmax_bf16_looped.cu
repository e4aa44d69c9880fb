extern "C" __global__ void __launch_bounds__(512)
softmax(const bfloat16* __restrict__ x, bfloat16* __restrict__ out, int cols) {
  __shared__ float slots[2][16];
  const int row = blockIdx.x;
  const long long row_start = static_cast<long long>(row) * cols;

  // return torch.softmax(x, dim=-1)   (functions.py:20)
  float row_max = -INFINITY;
  #pragma unroll 2
  for (int col = threadIdx.x * 8; col < cols; col += 4096) {
    const Vec<bfloat16, 8> x_v = load<8>(x + row_start + col);
    #pragma unroll
    for (int v = 0; v < 8; ++v) {
      row_max = Max::combine(row_max, widen_bf16(x_v[v]));
    }
  }
  row_max = block_reduce<Max, 512>(row_max, slots[0]);

  float row_sum = 0.0f;
  #pragma unroll 2
  for (int col = threadIdx.x * 8; col < cols; col += 4096) {
    const Vec<bfloat16, 8> x_v = load<8>(x + row_start + col);
    #pragma unroll
    for (int v = 0; v < 8; ++v) {
      row_sum += expf(widen_bf16(x_v[v]) - row_max);
    }
  }
  row_sum = block_reduce<Sum, 512>(row_sum, slots[1]);

  #pragma unroll 2
  for (int col = threadIdx.x * 8; col < cols; col += 4096) {
    const Vec<bfloat16, 8> x_v = load<8>(x + row_start + col);
    Vec<bfloat16, 8> out_v;
    #pragma unroll
    for (int v = 0; v < 8; ++v) {
      out_v[v] = narrow_bf16(expf(widen_bf16(x_v[v]) - row_max) / row_sum);
    }
    store<8>(out + row_start + col, out_v);
  }
}
