extern "C" __global__ void __launch_bounds__(256, 2)
square_sum0(const float* __restrict__ x, float* __restrict__ out, int cols, int rows,
            float* column_sum_v_part, unsigned* arrived) {
  __shared__ Vec<float, 4> tile[128][2];
  const int at = (blockIdx.x * 2 + threadIdx.x) * 4;
  const bool inside = at < cols;
  const int col = inside ? at : 0;
  const int end = inside ? rows : 0;

  // return (x * x).sum(0)   (functions.py:28)
  Vec<float, 4> column_sum_v = splat<4>(0.0f);
  #pragma unroll 4
  for (int row = blockIdx.y * 128 + threadIdx.y; row < end; row += gridDim.y * 128) {
    const long long row_start = static_cast<long long>(row) * cols;
    const Vec<float, 4> x_v = load<4>(x + row_start + col);
    #pragma unroll
    for (int v = 0; v < 4; ++v) {
      const float square = x_v[v] * x_v[v];
      column_sum_v[v] += square;
    }
  }
  column_sum_v = column_reduce<Sum, 2, 128>(column_sum_v, tile);
  leave_columns<2>(column_sum_v_part, column_sum_v);

  // The last block of the columns combines what all have found, in a fixed order.
  if (!last_block(arrived + blockIdx.x, gridDim.y)) return;
  column_sum_v = column_parts_reduce<Sum, 2, 128>(splat<4>(0.0f), column_sum_v_part, tile);
  if (threadIdx.y == 0 && inside) store<4>(out + col, column_sum_v);
}
