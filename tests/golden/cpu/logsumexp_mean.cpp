extern "C" void logsumexp_mean_kernel(const float* x, float* out, long rows, long cols,
                                      float* all_sum_part, int threads) {
  Team team(rows, cols, threads);
#pragma omp parallel num_threads(threads)
  for (long row = team.first(); row < team.last(); ++row) {
    const float* x_row = x + row * cols;
    // return torch.logsumexp(x, -1).mean()   (functions.py:36)
    const float row_max = reduce<Max>(team, cols, [=](long col, auto mask) INLINE {
      const vf x_v = load(x_row + col, mask);
      return x_v;
    });
    const float row_sum = reduce<Sum>(team, cols, [=](long col, auto mask) INLINE {
      const vf x_v = load(x_row + col, mask);
      return exp(x_v - row_max);
    });
    const float loss = log(row_sum) + row_max;
    if (team.leads()) all_sum_part[row] = loss;
  }
  // What all rows have given, in a fixed order.
  const float all_sum = reduce<Sum>(0, rows, [=](long row, auto mask) INLINE {
    return load(all_sum_part + row, mask);
  });
  const float div_value = all_sum / (float)rows;
  out[0] = div_value;
}
