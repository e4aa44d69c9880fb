extern "C" __global__ void __launch_bounds__(256)
roots(const float* __restrict__ x, float* __restrict__ out, int n) {
  const int i = (blockIdx.x * 256 + threadIdx.x) * 4;
  if (i >= n) return;
  // x = 1.0 if a < 1.0 else a   (test_golden_texts.py:41)
  // while abs(x * x - a) > 1e-4 * a and trips < 20:   (test_golden_texts.py:43)
  // return newton(x)   (test_golden_texts.py:54)
  const Vec<float, 4> x_v = load<4>(x + i);
  Vec<float, 4> out_v;
  #pragma unroll
  for (int v = 0; v < 4; ++v) {
    const float x_2 = (x_v[v] < 1.0f) ? 1.0f : x_v[v];
    float x_3 = x_2;
    long long trips = 0;
    while ((fabsf(x_3 * x_3 - x_v[v]) > 0.0001f * x_v[v]) & (trips < 20)) {
      // x = 0.5 * (x + a / x)   (test_golden_texts.py:44)
      // trips += 1   (test_golden_texts.py:45)
      x_3 = 0.5f * (x_3 + x_v[v] / x_3);
      trips = trips + 1;
    }
    out_v[v] = x_3;
  }
  store<4>(out + i, out_v);
}
