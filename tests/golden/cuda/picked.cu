extern "C" __global__ void __launch_bounds__(128, 4)
picked(const float* __restrict__ scores, const float* __restrict__ scores2,
       const long long* __restrict__ index, float* __restrict__ out, int rows, int cols,
       long long scores2_stride_rows) {
  const int row = blockIdx.x * 4 + threadIdx.y;
  const bool inside = row < rows;
  const long long row_start = static_cast<long long>(row) * cols;
  Vec<float, 4> scores_v[8];
  // return torch.log_softmax(scores, -1).gather(1, index)   (test_golden_texts.py:22)
  const long long index_row = inside ? index[static_cast<long long>(row)] : 0;
  const long long checked_value = inside ? in_range(index_row, cols) : 0;
  const float scores2_row = inside ? scores2[static_cast<long long>(row) * scores2_stride_rows
      + checked_value] : 0;

  float row_max = -INFINITY;
  #pragma unroll
  for (int j = 0; j < 8; ++j) {
    const int col = (j * 32 + threadIdx.x) * 4;
    if (inside && col < cols) {
      scores_v[j] = load<4>(scores + row_start + col);
      #pragma unroll
      for (int v = 0; v < 4; ++v) {
        row_max = Max::combine(row_max, scores_v[j][v]);
      }
    }
  }
  row_max = warp_reduce<Max, 32>(row_max);

  float row_sum = 0.0f;
  #pragma unroll
  for (int j = 0; j < 8; ++j) {
    const int col = (j * 32 + threadIdx.x) * 4;
    if (inside && col < cols) {
      #pragma unroll
      for (int v = 0; v < 4; ++v) {
        row_sum += expf(scores_v[j][v] - row_max);
      }
    }
  }
  row_sum = warp_reduce<Sum, 32>(row_sum);
  const float sub_value = scores2_row - row_max - logf(row_sum);
  if (inside && threadIdx.x == 0) out[static_cast<long long>(row)] = sub_value;
}
