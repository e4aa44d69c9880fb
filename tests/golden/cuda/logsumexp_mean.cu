extern "C" __global__ void __launch_bounds__(256, 4)
logsumexp_mean(const float* __restrict__ x, float* __restrict__ out, int rows, int cols,
               float* all_sum_part, unsigned* arrived) {
  __shared__ float slots[3][8];
  float all_sum = 0.0f;
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const long long row_start = static_cast<long long>(row) * cols;
    Vec<float, 4> x_v[4];

    // return torch.logsumexp(x, -1).mean()   (functions.py:36)
    float row_max = -INFINITY;
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int col = (j * 256 + threadIdx.x) * 4;
      if (col < cols) {
        x_v[j] = load<4>(x + row_start + col);
        #pragma unroll
        for (int v = 0; v < 4; ++v) {
          row_max = Max::combine(row_max, x_v[j][v]);
        }
      }
    }
    row_max = block_reduce<Max, 256>(row_max, slots[1]);

    float row_sum = 0.0f;
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int col = (j * 256 + threadIdx.x) * 4;
      if (col < cols) {
        #pragma unroll
        for (int v = 0; v < 4; ++v) {
          row_sum += expf(x_v[j][v] - row_max);
        }
      }
    }
    row_sum = block_reduce<Sum, 256>(row_sum, slots[2]);
    const float loss = logf(row_sum) + row_max;
    all_sum += loss;
    __syncthreads();
  }
  if (threadIdx.x == 0) all_sum_part[blockIdx.x] = all_sum;

  // The last block combines what all have found, in a fixed order.
  if (!last_block(arrived, gridDim.x)) return;
  all_sum = 0.0f;
  for (int part = threadIdx.x; part < gridDim.x; part += 256) {
    all_sum += all_sum_part[part];
  }
  all_sum = block_reduce<Sum, 256>(all_sum, slots[0]);
  const float div_value = all_sum / static_cast<float>(rows);
  if (threadIdx.x == 0) out[0] = div_value;
}
