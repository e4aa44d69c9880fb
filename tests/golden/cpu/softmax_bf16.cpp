extern "C" void softmax_kernel(const bf16* x, bf16* out, long rows, long cols, float* work,
                               int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (long row = 0; row < rows; ++row) {
    const bf16* x_row = x + row * cols;
    bf16* out_row = out + row * cols;
    float* kept_scratch = work + omp_get_thread_num() * cols;
    // return torch.softmax(x, dim=-1)   (functions.py:20)
    const float row_max = reduce<Max>(0, cols, [=](long col, auto mask) INLINE {
      const vf x_v = load(x_row + col, mask);
      return x_v;
    });
    const float row_sum = reduce<Sum>(0, cols, [=](long col, auto mask) INLINE {
      const vf x_v = load(x_row + col, mask);
      const vf exp_value = exp(x_v - row_max);
      store(kept_scratch + col, exp_value, mask);
      return exp_value;
    });
    sweep<4>(0, cols, [=](long col, auto, auto mask) INLINE {
      const vf exp_v = load(kept_scratch + col, mask);
      store(out_row + col, round_bf16(exp_v / row_sum), mask);
    });
  }
}
