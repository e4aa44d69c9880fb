// def sin_cos_sum(x):
//     return (torch.sin(x) * torch.cos(x)).sum()
extern "C" void sin_cos_sum(const float* x, float* y, float* work, long n, int threads) {
  const long chunks = (n + 4095) / 4096;  // work[chunks]
#pragma omp parallel for num_threads(threads) schedule(static)
  for (long chunk = 0; chunk < chunks; ++chunk) {
    const long begin = chunk * 4096, end = least(begin + 4096, n);
    // return (torch.sin(x) * torch.cos(x)).sum()
    work[chunk] = reduce<Sum>(begin, end, [=](long i, auto mask) INLINE {
      const vf a = load(x + i, mask);
      return sin(a) * cos(a);
    });
  }
  const float s = reduce<Sum>(0, chunks, [=](long i, auto mask) INLINE {
    return load(work + i, mask);
  });
  *y = s;
}
