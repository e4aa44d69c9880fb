extern "C" void softmax_kernel(const bf16* x, bf16* out, long rows, long cols, float* work,
                               int threads) {
  for_rows<3>(rows, cols, cols, threads, [=](auto& team, long row) INLINE {
    const auto x_row = team.in(0, x + row * cols, cols);
    const auto out_row = team.out(1, out + row * cols, cols);
    const auto kept_scratch = team.scratch(2, work + team.place() * cols);
    // return torch.softmax(x, dim=-1)   (functions.py:20)
    const auto row_max = reduce<Max>(team, cols, [=](long col, auto mask) INLINE {
      const vf x_v = load(x_row + col, mask);
      return x_v;
    });
    const auto row_sum = reduce<Sum>(team, cols, [=](long col, auto mask) INLINE {
      const vf x_v = load(x_row + col, mask);
      const vf exp_value = exp(x_v - row_max);
      store(kept_scratch + col, exp_value, mask);
      return exp_value;
    });
    sweep<4>(team, cols, [=](long col, auto, auto mask) INLINE {
      const vf exp_v = load(kept_scratch + col, mask);
      store(out_row + col, round_bf16(exp_v / row_sum), mask);
    });
    team.write(out_row);
  });
}
