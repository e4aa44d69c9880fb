extern "C" void columns_of_kernel(const float* x, const long* index, float* out, long rows,
                                  long cols, long x_stride_rows, long size, int* status,
                                  int threads) {
  if (size == 0 && cols != 0) return void(*status = 1);
  const long tiles = (cols + 4095) / 4096;
#pragma omp parallel for num_threads(threads) schedule(static) collapse(2)
  for (long row = 0; row < rows; ++row)
    for (long tile = 0; tile < tiles; ++tile) {
      const float* x_row = x + row * x_stride_rows;
      float* out_row = out + row * cols;
      const long begin = tile * 4096;
      const long end = begin + 4096 < cols ? begin + 4096 : cols;
      // return x[:, index] * 2.0   (test_golden_texts.py:26)
#pragma omp simd
      for (long col = begin; col < end; ++col) {
        const long index_v = index[col];
        const long checked_value = checked((index_v < 0) ? (index_v + size)
            : index_v, size, status);
        const float x_v = x_row[checked_value];
        out_row[col] = x_v * 2.0f;
      }
    }
}
