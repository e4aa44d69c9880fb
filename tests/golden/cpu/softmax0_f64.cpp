extern "C" void softmax0_kernel(const double* x, double* out, long outer, long cols, long rows,
                                int threads) {
  Columns<double, 1> all(outer, cols, rows);
#pragma omp parallel num_threads(threads)
  for (Strip<double, 1> strip(all); strip.more();) {
    const long slab = strip.slab;
    const double* x_strip = x + slab * rows * cols + strip.first;
    double* out_strip = out + slab * rows * cols + strip.first;
    // return torch.softmax(x, dim=-1)   (functions.py:20)
    double column_max[strip_columns];
    columns_each<Max, double>(strip, -__builtin_inf(), column_max, [&](long row, long col) INLINE {
      const double x_v = x_strip[row * cols + col];
      return x_v;
    });
    double column_sum[strip_columns];
    columns_each<Sum, double>(strip, 0, column_sum, [&](long row, long col) INLINE {
      const double x_v = x_strip[row * cols + col];
      return exp(x_v - column_max[col]);
    });
    for (long row = strip.begin; row < strip.end; ++row)
      for (long col = 0; col < strip.width; ++col) {
        const double x_v = x_strip[row * cols + col];
        out_strip[row * cols + col] = exp(x_v - column_max[col]) / column_sum[col];
      }
  }
}
