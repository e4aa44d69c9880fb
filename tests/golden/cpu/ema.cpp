extern "C" void ema_kernel(const float* h, const float* x, float* h2, long n, long x_stride_at,
                           float decay, long size, int threads) {
  const long tiles = (n + 4095) / 4096;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (long tile = 0; tile < tiles; ++tile) {
    const long begin = tile * 4096;
    const long end = begin + 4096 < n ? begin + 4096 : n;
    // for t in range(x.shape[0]):   (loop_functions.py:9)
    sweep<2>(begin, end, [=](long i, auto, auto mask) INLINE {
      const vf h_v = load(h + i, mask);
      vf h3 = h_v;
      for (long t = 0; t < size; ++t) {
        // h = h * decay + x[t]   (loop_functions.py:10)
        const vf x_v = load(x + t * x_stride_at + i, mask);
        h3 = h3 * decay + x_v;
      }
      store(h2 + i, h3, mask);
    });
  }
}
