extern "C" void roots_kernel(const float* x, float* out, long n, int* status, int threads) {
  const long tiles = (n + 4095) / 4096;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (long tile = 0; tile < tiles; ++tile) {
    const long begin = tile * 4096;
    const long end = begin + 4096 < n ? begin + 4096 : n;
    // x = 1.0 if a < 1.0 else a   (test_golden_texts.py:41)
    // while abs(x * x - a) > 1e-4 * a and trips < 20:   (test_golden_texts.py:43)
    // return newton(x)   (test_golden_texts.py:54)
    sweep<2>(begin, end, [=](long i, auto, auto mask) INLINE {
      const vf x_v = load(x + i, mask);
      const vf x_2 = (x_v < 1.0f) ? 1.0f : x_v;
      vf x_3 = x_2;
      vl trips = spread(0);
      vi live = active(mask);
      while (true) {
        live &= ((abs(x_3 * x_3 - x_v) > 0.0001f * x_v) & truth(trips < 20));
        if (!any_lane(live)) break;
        if (stopped(status)) break;
        // x = 0.5 * (x + a / x)   (test_golden_texts.py:44)
        // trips += 1   (test_golden_texts.py:45)
        x_3 = live ? 0.5f * (x_3 + x_v / x_3) : x_3;
        trips = trips + 1;
      }
      store(out + i, x_3, mask);
    });
  }
}
