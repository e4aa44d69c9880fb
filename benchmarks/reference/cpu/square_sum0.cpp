// def square_sum0(x):
//     return (x * x).sum(0)
extern "C" void square_sum0(const float* x, float* y, long rows, long cols, int threads) {
  Columns<float, 1> all(1, cols, rows);
#pragma omp parallel num_threads(threads)
  for (Strip<float, 1> strip(all); strip.more();) {
    const float* x_strip = x + strip.first;
    // return (x * x).sum(0)
    float sum[strip_columns];
    columns<8, Sum>(strip, {sum}, [&](long row, long col, auto mask) INLINE {
      const vf a = load(x_strip + row * cols + col, mask);
      return a * a;
    });
    each_col(strip.width, [&](long col, auto mask) INLINE {
      if (strip.leads) store(y + strip.first + col, load(sum + col, mask), mask);
    });
  }
}
