extern "C" void rms_norm_kernel(const float* x, const float* residual, const float* weight,
                                float* h, float* y, long rows, long cols, float eps, int threads) {
  for_rows<4>(rows, cols, cols, threads, [=](auto& team, long row) INLINE {
    const auto x_row = team.in(0, x + row * cols, cols);
    const auto residual_row = team.in(1, residual + row * cols, cols);
    const auto weight_row = team.every(weight);
    const auto h_row = team.out(2, h + row * cols, cols);
    const auto y_row = team.out(3, y + row * cols, cols);
    // h = x + residual   (functions.py:13)
    // rstd = torch.rsqrt(h.square().mean(-1, keepdim=True) + eps)   (functions.py:14)
    const auto row_sum = reduce<Sum>(team, cols, [=](long col, auto mask) INLINE {
      const vf x_v = load(x_row + col, mask);
      const vf residual_v = load(residual_row + col, mask);
      const vf h_v = x_v + residual_v;
      store(h_row + col, h_v, mask);
      return h_v * h_v;
    });
    const auto rstd = rsqrt(row_sum / (float)cols + eps);
    // y = h * rstd * weight   (functions.py:15)
    sweep<4>(team, cols, [=](long col, auto, auto mask) INLINE {
      const vf h_v = load(h_row + col, mask);
      const vf weight_v = load(weight_row + col, mask);
      store(y_row + col, h_v * rstd * weight_v, mask);
    });
    team.write(h_row);
    team.write(y_row);
  });
}
