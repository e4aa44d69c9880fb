// def square_sum0(x):
//     return (x * x).sum(0)
extern "C" void square_sum0(const float* x, float* y, float* work, long rows, long cols,
                            long block, int threads) {
  const long blocks = (rows + block - 1) / block;
#pragma omp parallel num_threads(threads)
  {
#pragma omp for collapse(2) schedule(static)
    for (long b = 0; b < blocks; ++b)
      for (long first = 0; first < cols; first += strip_columns) {
        const long begin = b * block, end = begin + block < rows ? begin + block : rows;
        columns<Sum>(begin, end, first, cols, work + b * cols, [=](long row, long col, auto mask) INLINE {
          const vf a = load(x + row * cols + col, mask);
          return a * a;
        });
      }
#pragma omp for schedule(static)
    for (long first = 0; first < cols; first += strip_columns)
      sweep<1>(first, first + strip_columns < cols ? first + strip_columns : cols, [=](long col, auto, auto mask) INLINE {
        const vf s = combine_blocks<Sum>(work + col, blocks, cols, mask);
        store(y + col, s, mask);
      });
  }
}
