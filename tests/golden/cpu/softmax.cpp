extern "C" void softmax_kernel(const float* x, float* out, long rows, long cols, int threads) {
  Team team(rows, cols, threads);
#pragma omp parallel num_threads(threads)
  for (long row = team.first(); row < team.last(); ++row) {
    const float* x_row = x + row * cols;
    float* out_row = out + row * cols;
    // return torch.softmax(x, dim=-1)   (functions.py:20)
    const float row_max = reduce<Max>(team, cols, [=](long col, auto mask) INLINE {
      const vf x_v = load(x_row + col, mask);
      return x_v;
    });
    const float row_sum = reduce<Sum>(team, cols, [=](long col, auto mask) INLINE {
      const vf x_v = load(x_row + col, mask);
      const vf exp_value = exp(x_v - row_max);
      store(out_row + col, exp_value, mask);
      return exp_value;
    });
    sweep<4>(team, cols, [=](long col, auto, auto mask) INLINE {
      const vf exp_v = load(out_row + col, mask);
      store(out_row + col, exp_v / row_sum, mask);
    });
  }
}
