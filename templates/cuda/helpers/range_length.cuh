// How often Python's range(first, bound, step) counts; the step is not 0.
__device__ __forceinline__ long long range_length(long long first, long long bound,
                                                  long long step) {
  if (step > 0 ? first >= bound : first <= bound) return 0;
  const unsigned long long a = first, b = bound, c = step, way = step > 0 ? b - a : a - b;
  return (way - 1) / (step > 0 ? c : 0 - c) + 1;
}
