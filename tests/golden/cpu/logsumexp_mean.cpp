extern "C" void logsumexp_mean_kernel(const float* x, float* out, long rows, long cols,
                                      float* all_sum_part, int threads) {
  for_rows<1>(rows, cols, cols, threads, [=](auto& team, long row) INLINE {
    const auto x_row = team.in(0, x + row * cols, cols);
    // return torch.logsumexp(x, -1).mean()   (functions.py:36)
    const auto row_max = reduce<Max>(team, cols, [=](long col, auto mask) INLINE {
      const vf x_v = load(x_row + col, mask);
      return x_v;
    });
    const auto row_sum = reduce<Sum>(team, cols, [=](long col, auto mask) INLINE {
      const vf x_v = load(x_row + col, mask);
      return exp(x_v - row_max);
    });
    const auto loss = log(row_sum) + row_max;
    team.set(all_sum_part + row, loss);
  });
  // What all rows have given, in a fixed order.
  const float all_sum = reduce<Sum>(0, rows, [=](long row, auto mask) INLINE {
    return load(all_sum_part + row, mask);
  });
  const float div_value = all_sum / (float)rows;
  out[0] = div_value;
}
