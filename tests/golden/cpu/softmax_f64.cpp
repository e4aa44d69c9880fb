extern "C" void softmax_kernel(const double* x, double* out, long rows, long cols, int threads) {
  Team team(rows, long_row(cols), threads);
#pragma omp parallel num_threads(team.size(threads))
  for (long row = team.first(); row < team.last(); ++row) {
    const double* x_row = x + row * cols;
    double* out_row = out + row * cols;
    // return torch.softmax(x, dim=-1)   (functions.py:20)
    const double row_max = reduce_each<Max, double>(
        team, cols, -__builtin_inf(), [=](long col) INLINE {
      const double x_v = x_row[col];
      return x_v;
    });
    const double row_sum = reduce_each<Sum, double>(team, cols, 0, [=](long col) INLINE {
      const double x_v = x_row[col];
      return exp(x_v - row_max);
    });
#pragma omp simd
    for (long col = team.begin(cols); col < team.end(cols); ++col) {
      const double x_v = x_row[col];
      out_row[col] = exp(x_v - row_max) / row_sum;
    }
  }
}
