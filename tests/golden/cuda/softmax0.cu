extern "C" __global__ void __launch_bounds__(256, 4)
softmax0(const float* __restrict__ x, float* __restrict__ out, int outer, int cols, int rows) {
  __shared__ Vec<float, 4> tile[8][32];
  const int vectors = (cols + 3) / 4;
  const int at = blockIdx.x * 32 + threadIdx.x;
  const bool inside = at < outer * vectors;
  const int slab = inside ? at / vectors : 0;
  const int col = inside ? at % vectors * 4 : 0;
  const int end = inside ? rows : 0;
  Vec<float, 4> x_v[4];
  Vec<float, 4> exp_v[4];

  // return torch.softmax(x, dim=-1)   (functions.py:20)
  Vec<float, 4> column_max_v = splat<4>(-INFINITY);
  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int row = j * 8 + threadIdx.y;
    if (row < end) {
      const long long row_start = static_cast<long long>(slab * rows + row) * cols;
      x_v[j] = load<4>(x + row_start + col);
      #pragma unroll
      for (int v = 0; v < 4; ++v) {
        column_max_v[v] = Max::combine(column_max_v[v], x_v[j][v]);
      }
    }
  }
  column_max_v = column_reduce_all<Max, 32, 8>(column_max_v, tile);

  Vec<float, 4> column_sum_v = splat<4>(0.0f);
  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int row = j * 8 + threadIdx.y;
    if (row < end) {
      #pragma unroll
      for (int v = 0; v < 4; ++v) {
        exp_v[j][v] = expf(x_v[j][v] - column_max_v[v]);
        column_sum_v[v] += exp_v[j][v];
      }
    }
  }
  column_sum_v = column_reduce_all<Sum, 32, 8>(column_sum_v, tile);

  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int row = j * 8 + threadIdx.y;
    if (row < end) {
      const long long row_start = static_cast<long long>(slab * rows + row) * cols;
      Vec<float, 4> out_v;
      #pragma unroll
      for (int v = 0; v < 4; ++v) {
        out_v[v] = exp_v[j][v] / column_sum_v[v];
      }
      store<4>(out + row_start + col, out_v);
    }
  }
}
