extern "C" __global__ void __launch_bounds__(256)
embedding(const long long* __restrict__ index, const float* __restrict__ table,
          const float* __restrict__ position, float* __restrict__ out, int rows, int cols,
          long long table_stride_at, long long size) {
  const int col = (blockIdx.y * blockDim.x + threadIdx.x) * 4;
  if (col >= cols) return;
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const int row = (blockIdx.x * 2 + j) * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    const long long row_start = static_cast<long long>(row) * cols;
    // return F.embedding(index, table) + position   (test_golden_texts.py:18)
    const long long index_row = index[static_cast<long long>(row)];
    const long long checked_value = in_range(index_row, size);
    const Vec<float, 4> table_v2 = load<4>(table + checked_value * table_stride_at + col);
    const Vec<float, 4> position_v = load<4>(position + row_start + col);
    Vec<float, 4> out_v;
    #pragma unroll
    for (int v = 0; v < 4; ++v) {
      out_v[v] = table_v2[v] + position_v[v];
    }
    store<4>(out + row_start + col, out_v);
  }
}
