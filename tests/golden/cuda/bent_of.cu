extern "C" __global__ void __launch_bounds__(256)
bent_of(const float* __restrict__ x, float* __restrict__ out, int n) {
  const int i = (blockIdx.x * 256 + threadIdx.x) * 4;
  if (i >= n) return;
  // if x > 0.0:   (test_golden_texts.py:31)
  // return bent(x, 0.1) + 1.0   (test_golden_texts.py:50)
  const Vec<float, 4> x_v = load<4>(x + i);
  Vec<float, 4> out_v;
  #pragma unroll
  for (int v = 0; v < 4; ++v) {
    float y;
    if (x_v[v] > 0.0f) {
      // y = x + 0.5   (test_golden_texts.py:32)
      const float y_v = x_v[v] + 0.5f;
      // y = y * y   (test_golden_texts.py:33)
      y = y_v * y_v;
    } else {
      // y = x * slope   (test_golden_texts.py:35)
      y = x_v[v] * 0.1f;
    }
    out_v[v] = y + 1.0f;
  }
  store<4>(out + i, out_v);
}
