extern "C" void sin_cos_sum_kernel(const float* x, float* out, long n, int threads) {
  Team team(1, n, threads, 1);
#pragma omp parallel num_threads(team.size(threads))
  {
    // return (torch.sin(x) * torch.cos(x)).sum()   (functions.py:32)
    const float all_sum = reduce<Sum>(team, n, [=](long i, auto mask) INLINE {
      const vf x_v = load(x + i, mask);
      const vf product = sin(x_v) * cos(x_v);
      return product;
    });
    if (team.leads()) out[0] = all_sum;
  }
}
