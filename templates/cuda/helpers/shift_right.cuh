// By any count: the sign alone is left where it is negative or not below the width.
template <class T>
__device__ __forceinline__ T shift_right(T a, T b) {
  const long long value = a, count = b;
  return count < 0 || count >= 8 * sizeof(T) ? T(value < 0 ? -1 : 0) : T(a >> b);
}
