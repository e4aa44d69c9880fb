extern "C" void embedding_kernel(const long* index, const float* table, const float* position,
                                 float* out, long rows, long cols, long table_stride_at, long size,
                                 int* status, int threads) {
  if (size == 0 && rows != 0) return void(*status = 1);
  const long tiles = (cols + 4095) / 4096;
#pragma omp parallel for num_threads(threads) schedule(static) collapse(2)
  for (long row = 0; row < rows; ++row)
    for (long tile = 0; tile < tiles; ++tile) {
      const float* position_row = position + row * cols;
      float* out_row = out + row * cols;
      const long begin = tile * 4096;
      const long end = begin + 4096 < cols ? begin + 4096 : cols;
      // return F.embedding(index, table) + position   (test_golden_texts.py:18)
      const long checked_value = checked(index[row], size, status);
      sweep<2>(begin, end, [=](long col, auto, auto mask) INLINE {
        const vf table_v = load(table + checked_value * table_stride_at + col, mask);
        const vf position_v = load(position_row + col, mask);
        store(out_row + col, table_v + position_v, mask);
      });
    }
}
