// def square_sum0(x):
//     return (x * x).sum(0)
extern "C" void square_sum0(const float* x, float* y, float* work, long rows, long cols,
                            long block, int threads) {
  const long blocks = 1 + (rows - 1) / block;  // work[blocks, cols]
  const long strips = (cols + strip_columns - 1) / strip_columns;
#pragma omp parallel num_threads(threads)
  {
#pragma omp for collapse(2) schedule(static)
    for (long part = 0; part < blocks; ++part)
      for (long strip = 0; strip < strips; ++strip) {
        const long begin = part * block, end = least(begin + block, rows);
        const long first = strip * strip_columns, last = least(first + strip_columns, cols);
        float* work_row = work + part * cols;
        // return (x * x).sum(0)
        columns<Sum>(begin, end, first, last, work_row, [=](long row, long col, auto mask) INLINE {
          const vf a = load(x + row * cols + col, mask);
          return a * a;
        });
      }
#pragma omp for schedule(static)
    for (long strip = 0; strip < strips; ++strip) {
      const long first = strip * strip_columns, last = least(first + strip_columns, cols);
      sweep<1>(first, last, [=](long col, auto, auto mask) INLINE {
        const vf s = combine_blocks<Sum>(work + col, blocks, cols, mask);
        store(y + col, s, mask);
      });
    }
  }
}
