// def cross_entropy(x, target):
//     return F.cross_entropy(x, target, reduction="none")
extern "C" void cross_entropy(const float* x, const long* target, float* loss, int* status,
                              long rows, long cols, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (long row = 0; row < rows; ++row) {
    const float* x_row = x + row * cols;
    // return F.cross_entropy(x, target, reduction="none")
    const float m = reduce<Max>(0, cols, [=](long col, auto mask) INLINE {
      const vf a = load(x_row + col, mask);
      return a;
    });
    const float s = reduce<Sum>(0, cols, [=](long col, auto mask) INLINE {
      const vf a = load(x_row + col, mask);
      return exp(a - m);
    });
    const long t = target[row];
    const bool ignored = t == -100;
    const float x_t = x_row[checked(ignored ? 0 : t, cols, status)];
    loss[row] = ignored ? 0.0f : log(s) - (x_t - m);
  }
}
