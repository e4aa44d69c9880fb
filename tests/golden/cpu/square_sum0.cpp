extern "C" void square_sum0_kernel(const float* x, float* out, long cols, long rows, int threads) {
  Columns<float, 1> all(1, cols, rows);
#pragma omp parallel num_threads(threads)
  for (Strip<float, 1> strip(all); strip.more();) {
    const float* x_strip = x + strip.first;
    float* out_strip = out + strip.first;
    // return (x * x).sum(0)   (functions.py:28)
    float column_sum[strip_columns];
    columns<8, Sum>(strip, {column_sum}, [&](long row, long col, auto mask) INLINE {
      const vf x_v = load(x_strip + row * cols + col, mask);
      const vf square = x_v * x_v;
      return square;
    });
    each_col(strip.width, [&](long col, auto mask) INLINE {
      if (strip.leads) store(out_strip + col, load(column_sum + col, mask), mask);
    });
  }
}
