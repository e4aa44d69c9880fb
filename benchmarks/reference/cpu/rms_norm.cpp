// def rms_norm(x, residual, weight, eps):
//     h = x + residual
//     rstd = torch.rsqrt(h.square().mean(-1, keepdim=True) + eps)
//     return h, h * rstd * weight
extern "C" void rms_norm(const float* x, const float* residual, const float* weight, float* h,
                         float* y, long rows, long cols, double eps, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (long row = 0; row < rows; ++row) {
    const float* x_row = x + row * cols;
    const float* residual_row = residual + row * cols;
    float* h_row = h + row * cols;
    float* y_row = y + row * cols;
    // h = x + residual
    const float total = reduce<Sum>(0, cols, [=](long col, auto mask) INLINE {
      const vf a = load(x_row + col, mask);
      const vf r = load(residual_row + col, mask);
      const vf hidden = a + r;
      store(h_row + col, hidden, mask);
      return hidden * hidden;
    });
    // rstd = torch.rsqrt(h.square().mean(-1, keepdim=True) + eps)
    const float mean = total / (float)cols;
    const float rstd = rsqrt(mean + (float)eps);
    // return h, h * rstd * weight
    sweep<4>(0, cols, [=](long col, auto, auto mask) INLINE {
      const vf hidden = load(h_row + col, mask);
      const vf w = load(weight + col, mask);
      store(y_row + col, hidden * rstd * w, mask);
    });
  }
}
