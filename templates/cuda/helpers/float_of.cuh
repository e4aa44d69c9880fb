// The float of which an integer is the order.
__device__ __forceinline__ float float_of(long long order) {
  const int bits = static_cast<int>(order);
  return __int_as_float(bits < 0 ? bits ^ 0x7fffffff : bits);
}
