// Rounded down; b is neither 0 nor -1.
template <class T>
__device__ __forceinline__ T floor_quotient(T a, T b) {
  const long long rest = a % b, divisor = b;
  return T(a / b - (rest != 0 && (rest < 0) != (divisor < 0)));
}
