extern "C" void bent_of_kernel(const float* x, float* out, long n, int threads) {
  const long tiles = (n + 4095) / 4096;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (long tile = 0; tile < tiles; ++tile) {
    const long begin = tile * 4096;
    const long end = begin + 4096 < n ? begin + 4096 : n;
    // if x > 0.0:   (test_golden_texts.py:31)
    // return bent(x, 0.1) + 1.0   (test_golden_texts.py:50)
    sweep<2>(begin, end, [=](long i, auto, auto mask) INLINE {
      const vf x_v = load(x + i, mask);
      // y = x + 0.5   (test_golden_texts.py:32)
      const vf y = x_v + 0.5f;
      // y = y * y   (test_golden_texts.py:33)
      // y = x * slope   (test_golden_texts.py:35)
      const vf if_value = (x_v > 0.0f) ? (y * y) : (x_v * 0.1f);
      store(out + i, if_value + 1.0f, mask);
    });
  }
}
