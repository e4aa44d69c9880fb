// def softmax(x):
//     return torch.softmax(x, -1)
extern "C" void softmax(const float* x, float* y, long rows, long cols, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (long row = 0; row < rows; ++row) {
    const float* x_row = x + row * cols;
    float* y_row = y + row * cols;
    // return torch.softmax(x, -1)
    const float m = reduce<Max>(0, cols, [=](long col, auto mask) INLINE {
      const vf a = load(x_row + col, mask);
      return a;
    });
    const float s = reduce<Sum>(0, cols, [=](long col, auto mask) INLINE {
      const vf a = load(x_row + col, mask);
      const vf e = exp(a - m);
      store(y_row + col, e, mask);
      return e;
    });
    const float scale = 1.0f / s;
    sweep<4>(0, cols, [=](long col, auto, auto mask) INLINE {
      const vf e = load(y_row + col, mask);
      store(y_row + col, e * scale, mask);
    });
  }
}
