// By any count: 0 where it is negative or not below the width.
template <class T>
__device__ __forceinline__ T shift_left(T a, T b) {
  const long long count = b;
  return count < 0 || count >= 8 * sizeof(T) ? T(0) : T((unsigned long long)a << count);
}
