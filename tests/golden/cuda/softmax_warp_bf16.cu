extern "C" __global__ void __launch_bounds__(128)
softmax(const bfloat16* __restrict__ x, bfloat16* __restrict__ out, int rows, int cols) {
  const int row = blockIdx.x * 16 + threadIdx.y;
  const bool inside = row < rows;
  const long long row_start = static_cast<long long>(row) * cols;
  Vec<bfloat16, 8> x_v[1];
  Vec<float, 8> exp_v[1];

  // return torch.softmax(x, dim=-1)   (functions.py:20)
  float row_max = -INFINITY;
  #pragma unroll
  for (int j = 0; j < 1; ++j) {
    const int col = (j * 8 + threadIdx.x) * 8;
    if (inside && col < cols) {
      x_v[j] = load<8>(x + row_start + col);
      #pragma unroll
      for (int v = 0; v < 8; ++v) {
        row_max = Max::combine(row_max, widen_bf16(x_v[j][v]));
      }
      keep_packed(x_v[j]);
    }
  }
  row_max = warp_reduce<Max, 8>(row_max);

  float row_sum = 0.0f;
  #pragma unroll
  for (int j = 0; j < 1; ++j) {
    const int col = (j * 8 + threadIdx.x) * 8;
    if (inside && col < cols) {
      #pragma unroll
      for (int v = 0; v < 8; ++v) {
        exp_v[j][v] = expf(widen_bf16(x_v[j][v]) - row_max);
        row_sum += exp_v[j][v];
      }
      keep_packed(x_v[j]);
    }
  }
  row_sum = warp_reduce<Sum, 8>(row_sum);

  #pragma unroll
  for (int j = 0; j < 1; ++j) {
    const int col = (j * 8 + threadIdx.x) * 8;
    if (inside && col < cols) {
      Vec<bfloat16, 8> out_v;
      #pragma unroll
      for (int v = 0; v < 8; ++v) {
        out_v[v] = narrow_bf16(exp_v[j][v] / row_sum);
      }
      store<8>(out + row_start + col, out_v);
    }
  }
}
