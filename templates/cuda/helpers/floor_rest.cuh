// With the sign of b, which is neither 0 nor -1.
template <class T>
__device__ __forceinline__ T floor_rest(T a, T b) {
  const long long rest = a % b, divisor = b;
  return T(rest != 0 && (rest < 0) != (divisor < 0) ? rest + divisor : rest);
}
