extern "C" void softmax_kernel(const float* x, float* out, long rows, long cols, int threads) {
  for_rows<2>(rows, cols, cols, threads, [=](auto& team, long row) INLINE {
    const auto x_row = team.in(0, x + row * cols, cols);
    const auto out_row = team.out(1, out + row * cols, cols);
    // return torch.softmax(x, dim=-1)   (functions.py:20)
    const auto row_max = reduce<Max>(team, cols, [=](long col, auto mask) INLINE {
      const vf x_v = load(x_row + col, mask);
      return x_v;
    });
    const auto row_sum = reduce<Sum>(team, cols, [=](long col, auto mask) INLINE {
      const vf x_v = load(x_row + col, mask);
      const vf exp_value = exp(x_v - row_max);
      store(out_row + col, exp_value, mask);
      return exp_value;
    });
    sweep<4>(team, cols, [=](long col, auto, auto mask) INLINE {
      const vf exp_v = load(out_row + col, mask);
      store(out_row + col, exp_v / row_sum, mask);
    });
    team.write(out_row);
  });
}
