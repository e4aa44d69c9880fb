extern "C" void bias_gelu_kernel(const bf16* x, const bf16* bias, const bf16* residual, bf16* out,
                                 long rows, long cols, int threads) {
  const long tiles = (cols + 4095) / 4096;
#pragma omp parallel for num_threads(threads) schedule(static) collapse(2)
  for (long row = 0; row < rows; ++row)
    for (long tile = 0; tile < tiles; ++tile) {
      const bf16* x_row = x + row * cols;
      const bf16* residual_row = residual + row * cols;
      bf16* out_row = out + row * cols;
      const long begin = tile * 4096;
      const long end = begin + 4096 < cols ? begin + 4096 : cols;
      // h = x + bias   (functions.py:8)
      // return F.gelu(h, approximate="tanh") + residual   (functions.py:9)
      sweep<2>(begin, end, [=](long col, auto, auto mask) INLINE {
        const vf x_v = load(x_row + col, mask);
        const vf bias_v = load(bias + col, mask);
        const vf h = round_bf16(x_v + bias_v);
        const vf mul_value = 0.5f * h * (1.0f + tanh(0.7978846f * (h + 0.044715f * (h * h * h))));
        const vf residual_v = load(residual_row + col, mask);
        store(out_row + col, round_bf16(round_bf16(mul_value) + residual_v), mask);
      });
    }
}
