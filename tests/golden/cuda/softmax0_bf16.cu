extern "C" __global__ void __launch_bounds__(256, 4)
softmax0(const bfloat16* __restrict__ x, bfloat16* __restrict__ out, int outer, int cols,
         int rows) {
  __shared__ Vec<float, 8> tile[8][32];
  const int vectors = (cols + 7) / 8;
  const int at = blockIdx.x * 32 + threadIdx.x;
  const bool inside = at < outer * vectors;
  const int slab = inside ? at / vectors : 0;
  const int col = inside ? at % vectors * 8 : 0;
  const int end = inside ? rows : 0;

  // return torch.softmax(x, dim=-1)   (functions.py:20)
  Vec<float, 8> column_max_v = splat<8>(-INFINITY);
  #pragma unroll 4
  for (int row = threadIdx.y; row < end; row += 8) {
    const long long row_start = static_cast<long long>(slab * rows + row) * cols;
    const Vec<bfloat16, 8> x_v = load<8>(x + row_start + col);
    #pragma unroll
    for (int v = 0; v < 8; ++v) {
      column_max_v[v] = Max::combine(column_max_v[v], widen_bf16(x_v[v]));
    }
  }
  column_max_v = column_reduce_all<Max, 32, 8>(column_max_v, tile);

  Vec<float, 8> column_sum_v = splat<8>(0.0f);
  #pragma unroll 4
  for (int row = threadIdx.y; row < end; row += 8) {
    const long long row_start = static_cast<long long>(slab * rows + row) * cols;
    const Vec<bfloat16, 8> x_v = load<8>(x + row_start + col);
    #pragma unroll
    for (int v = 0; v < 8; ++v) {
      column_sum_v[v] += expf(widen_bf16(x_v[v]) - column_max_v[v]);
    }
  }
  column_sum_v = column_reduce_all<Sum, 32, 8>(column_sum_v, tile);

  #pragma unroll 4
  for (int row = threadIdx.y; row < end; row += 8) {
    const long long row_start = static_cast<long long>(slab * rows + row) * cols;
    const Vec<bfloat16, 8> x_v = load<8>(x + row_start + col);
    Vec<bfloat16, 8> out_v;
    #pragma unroll
    for (int v = 0; v < 8; ++v) {
      out_v[v] = narrow_bf16(expf(widen_bf16(x_v[v]) - column_max_v[v]) / column_sum_v[v]);
    }
    store<8>(out + row_start + col, out_v);
  }
}
