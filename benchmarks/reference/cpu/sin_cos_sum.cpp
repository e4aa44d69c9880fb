// def sin_cos_sum(x):
//     return (torch.sin(x) * torch.cos(x)).sum()
extern "C" void sin_cos_sum(const float* x, float* y, long n, int threads) {
  Team team(1, n, threads);
#pragma omp parallel num_threads(threads)
  {
    // return (torch.sin(x) * torch.cos(x)).sum()
    const float s = reduce<Sum>(team, n, [=](long i, auto mask) INLINE {
      const vf a = load(x + i, mask);
      return sin(a) * cos(a);
    });
    if (team.leads()) *y = s;
  }
}
