extern "C" __global__ void __launch_bounds__(256)
gae_last(const float* __restrict__ rewards, const float* __restrict__ values,
         const float* __restrict__ values2, const float* __restrict__ dones,
         float* __restrict__ last, float* __restrict__ out, int n, float gamma, float number) {
  const int i = (blockIdx.x * 256 + threadIdx.x) * 4;
  if (i >= n) return;
  // going = 1.0 - dones[t]   (loop_functions.py:18)
  // delta = rewards[t] + gamma * values[t + 1] * going - values[t]   (loop_functions.py:19)
  // advantages[t] = last = delta + gamma * lam * going * last   (loop_functions.py:20)
  const Vec<float, 4> dones_v = load<4>(dones + i);
  const Vec<float, 4> values_v = load<4>(values + i);
  const Vec<float, 4> rewards_v = load<4>(rewards + i);
  const Vec<float, 4> values2_v = load<4>(values2 + i);
  Vec<float, 4> last_v;
  Vec<float, 4> out_v;
  #pragma unroll
  for (int v = 0; v < 4; ++v) {
    const float going = 1.0f - dones_v[v];
    const float delta = rewards_v[v] + values_v[v] * gamma * going - values2_v[v];
    last_v[v] = delta + going * number * 0.0f;
    out_v[v] = last_v[v];
  }
  store<4>(last + i, last_v);
  store<4>(out + i, out_v);
}

extern "C" __global__ void __launch_bounds__(256)
gae_advantages(const float* __restrict__ last, const float* __restrict__ dones,
               const float* __restrict__ values, const float* __restrict__ rewards,
               const float* __restrict__ values2, float* __restrict__ last2,
               float* __restrict__ advantages, int n, long long dones_stride_at,
               long long values_stride_at, long long rewards_stride_at, long long values2_stride_at,
               long long advantages_stride_at, float gamma, float number, long long size,
               long long size2) {
  const int i = (blockIdx.x * 256 + threadIdx.x) * 1;
  if (i >= n) return;
  // for t in reversed(range(rewards.shape[0])):   (loop_functions.py:17)
  const Vec<float, 1> last_v = load<1>(last + i);
  Vec<float, 1> last2_v;
  #pragma unroll
  for (int v = 0; v < 1; ++v) {
    float last3 = last_v[v];
    for (long long t = 0; t < size2; ++t) {
      // going = 1.0 - dones[t]   (loop_functions.py:18)
      const long long sub_value = size - t;
      const float dones_i = dones[sub_value * dones_stride_at + i];
      const float going = 1.0f - dones_i;
      const float values_i = values[sub_value * values_stride_at + i];
      // delta = rewards[t] + gamma * values[t + 1] * going - values[t]   (loop_functions.py:19)
      const float rewards_i = rewards[sub_value * rewards_stride_at + i];
      const float values2_i = values2[sub_value * values2_stride_at + i];
      const float delta = rewards_i + values_i * gamma * going - values2_i;
      // advantages[t] = last = delta + gamma * lam * going * last   (loop_functions.py:20)
      last3 = delta + going * number * last3;
      advantages[sub_value * advantages_stride_at + i] = last3;
    }
    last2_v[v] = last3;
  }
  store<1>(last2 + i, last2_v);
}

extern "C" __global__ void __launch_bounds__(256)
gae_add(const float* __restrict__ values, const float* __restrict__ advantages,
        float* __restrict__ out, int n) {
  const int i = (blockIdx.x * 256 + threadIdx.x) * 4;
  if (i >= n) return;
  // return advantages, advantages + values[:-1]   (loop_functions.py:21)
  const Vec<float, 4> advantages_v = load<4>(advantages + i);
  const Vec<float, 4> values_v = load<4>(values + i);
  Vec<float, 4> out_v;
  #pragma unroll
  for (int v = 0; v < 4; ++v) {
    out_v[v] = advantages_v[v] + values_v[v];
  }
  store<4>(out + i, out_v);
}
