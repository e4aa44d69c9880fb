extern "C" void softmax_kernel(const double* x, double* out, long rows, long cols, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (long row = 0; row < rows; ++row) {
    const double* x_row = x + row * cols;
    double* out_row = out + row * cols;
    // return torch.softmax(x, dim=-1)   (functions.py:20)
    const double row_max = reduce_each<Max, double>(
        0, cols, -__builtin_inf(), [=](long col) INLINE {
      const double x_v = x_row[col];
      return x_v;
    });
    const double row_sum = reduce_each<Sum, double>(0, cols, 0, [=](long col) INLINE {
      const double x_v = x_row[col];
      return exp(x_v - row_max);
    });
    for (long col = 0; col < cols; ++col) {
      const double x_v = x_row[col];
      out_row[col] = exp(x_v - row_max) / row_sum;
    }
  }
}
