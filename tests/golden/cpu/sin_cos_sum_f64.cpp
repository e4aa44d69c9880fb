extern "C" void sin_cos_sum_kernel(const double* x, double* out, long n, int threads) {
  Team team(1, n, threads, 1);
#pragma omp parallel num_threads(team.size(threads))
  {
    // return (torch.sin(x) * torch.cos(x)).sum()   (functions.py:32)
    const double all_sum = reduce_each<Sum, double>(team, n, 0, [=](long i) INLINE {
      const double x_v = x[i];
      const double product = sin(x_v) * cos(x_v);
      return product;
    });
    if (team.leads()) out[0] = all_sum;
  }
}
