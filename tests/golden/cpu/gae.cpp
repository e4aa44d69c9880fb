extern "C" void gae_last_kernel(const float* rewards, const float* values, const float* values2,
                                const float* dones, float* last, float* out, long n, float gamma,
                                float number, int threads) {
  const long tiles = (n + 4095) / 4096;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (long tile = 0; tile < tiles; ++tile) {
    const long begin = tile * 4096;
    const long end = begin + 4096 < n ? begin + 4096 : n;
    // going = 1.0 - dones[t]   (loop_functions.py:18)
    // delta = rewards[t] + gamma * values[t + 1] * going - values[t]   (loop_functions.py:19)
    // advantages[t] = last = delta + gamma * lam * going * last   (loop_functions.py:20)
    sweep<2>(begin, end, [=](long i, auto, auto mask) INLINE {
      const vf dones_v = load(dones + i, mask);
      const vf going = 1.0f - dones_v;
      const vf values_v = load(values + i, mask);
      const vf rewards_v = load(rewards + i, mask);
      const vf values2_v = load(values2 + i, mask);
      const vf delta = rewards_v + values_v * gamma * going - values2_v;
      const vf last_v = delta + going * number * 0.0f;
      store(last + i, last_v, mask);
      store(out + i, last_v, mask);
    });
  }
}

extern "C" void gae_advantages_kernel(const float* last, const float* dones, const float* values,
                                      const float* rewards, const float* values2, float* last2,
                                      float* advantages, long n, long dones_stride_at,
                                      long values_stride_at, long rewards_stride_at,
                                      long values2_stride_at, long advantages_stride_at,
                                      float gamma, float number, long size, long size2,
                                      int threads) {
  const long tiles = (n + 4095) / 4096;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (long tile = 0; tile < tiles; ++tile) {
    const long begin = tile * 4096;
    const long end = begin + 4096 < n ? begin + 4096 : n;
    // for t in reversed(range(rewards.shape[0])):   (loop_functions.py:17)
    sweep<2>(begin, end, [=](long i, auto, auto mask) INLINE {
      const vf last_v = load(last + i, mask);
      vf last3 = last_v;
      for (long t = 0; t < size2; ++t) {
        // going = 1.0 - dones[t]   (loop_functions.py:18)
        const long sub_value = size - t;
        const vf dones_v = load(dones + sub_value * dones_stride_at + i, mask);
        const vf going = 1.0f - dones_v;
        const vf values_v = load(values + sub_value * values_stride_at + i, mask);
        // delta = rewards[t] + gamma * values[t + 1] * going - values[t]   (loop_functions.py:19)
        const vf rewards_v = load(rewards + sub_value * rewards_stride_at + i, mask);
        const vf values2_v = load(values2 + sub_value * values2_stride_at + i, mask);
        const vf delta = rewards_v + values_v * gamma * going - values2_v;
        // advantages[t] = last = delta + gamma * lam * going * last   (loop_functions.py:20)
        last3 = delta + going * number * last3;
        store(advantages + sub_value * advantages_stride_at + i, last3, mask);
      }
      store(last2 + i, last3, mask);
    });
  }
}

extern "C" void gae_add_kernel(const float* values, const float* advantages, float* out, long n,
                               int threads) {
  const long tiles = (n + 4095) / 4096;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (long tile = 0; tile < tiles; ++tile) {
    const long begin = tile * 4096;
    const long end = begin + 4096 < n ? begin + 4096 : n;
    // return advantages, advantages + values[:-1]   (loop_functions.py:21)
    sweep<2>(begin, end, [=](long i, auto, auto mask) INLINE {
      const vf advantages_v = load(advantages + i, mask);
      const vf values_v = load(values + i, mask);
      store(out + i, advantages_v + values_v, mask);
    });
  }
}
