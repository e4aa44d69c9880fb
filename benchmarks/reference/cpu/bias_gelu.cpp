// def bias_gelu(x, bias, residual):
//     return F.gelu(x + bias, approximate="tanh") + residual
extern "C" void bias_gelu(const float* x, const float* bias, const float* residual, float* y,
                          long rows, long cols, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (long row = 0; row < rows; ++row) {
    const float* x_row = x + row * cols;
    const float* residual_row = residual + row * cols;
    float* y_row = y + row * cols;
    // return F.gelu(x + bias, approximate="tanh") + residual
    sweep<2>(0, cols, [=](long col, auto, auto mask) INLINE {
      const vf a = load(x_row + col, mask);
      const vf b = load(bias + col, mask);
      const vf r = load(residual_row + col, mask);
      const vf h = a + b;
      const vf z = -1.59576912f * (h + 0.044715f * (h * h * h));
      const vf gelu = h / (1.0f + exp(z));
      const vf out = gelu + r;
      store(y_row + col, out, mask);
    });
  }
}
