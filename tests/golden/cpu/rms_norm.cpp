extern "C" void rms_norm_kernel(const float* x, const float* residual, const float* weight,
                                float* h, float* y, long rows, long cols, float eps, int threads) {
  Team team(rows, cols, threads);
#pragma omp parallel num_threads(threads)
  for (long row = team.first(); row < team.last(); ++row) {
    const float* x_row = x + row * cols;
    const float* residual_row = residual + row * cols;
    float* h_row = h + row * cols;
    float* y_row = y + row * cols;
    // h = x + residual   (functions.py:13)
    // rstd = torch.rsqrt(h.square().mean(-1, keepdim=True) + eps)   (functions.py:14)
    const float row_sum = reduce<Sum>(team, cols, [=](long col, auto mask) INLINE {
      const vf x_v = load(x_row + col, mask);
      const vf residual_v = load(residual_row + col, mask);
      const vf h_v = x_v + residual_v;
      store(h_row + col, h_v, mask);
      return h_v * h_v;
    });
    const float rstd = rsqrt(row_sum / (float)cols + eps);
    // y = h * rstd * weight   (functions.py:15)
    sweep<4>(team, cols, [=](long col, auto, auto mask) INLINE {
      const vf h_v = load(h_row + col, mask);
      const vf weight_v = load(weight + col, mask);
      store(y_row + col, h_v * rstd * weight_v, mask);
    });
  }
}
