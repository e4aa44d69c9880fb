// Integers in the order of the floats that they stand for; -0.0 is 0.0.
__device__ __forceinline__ long long order_of(float a) {
  const int bits = __float_as_int(a + 0.0f);
  return bits < 0 ? bits ^ 0x7fffffff : bits;
}
