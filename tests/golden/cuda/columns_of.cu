extern "C" __global__ void __launch_bounds__(256)
columns_of(const float* __restrict__ x, const long long* __restrict__ index,
           float* __restrict__ out, int rows, int cols, long long x_stride_rows, long long size) {
  const int col = (blockIdx.y * blockDim.x + threadIdx.x) * 4;
  if (col >= cols) return;
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const int row = (blockIdx.x * 2 + j) * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    const long long x_start = static_cast<long long>(row) * x_stride_rows;
    const long long row_start = static_cast<long long>(row) * cols;
    // return x[:, index] * 2.0   (test_golden_texts.py:26)
    const Vec<long long, 4> index_v = load<4>(index + col);
    Vec<float, 4> out_v;
    #pragma unroll
    for (int v = 0; v < 4; ++v) {
      const long long checked_value = in_range((index_v[v] < 0) ? (index_v[v] + size)
          : index_v[v], size);
      const float x_i = x[x_start + checked_value];
      out_v[v] = x_i * 2.0f;
    }
    store<4>(out + row_start + col, out_v);
  }
}
