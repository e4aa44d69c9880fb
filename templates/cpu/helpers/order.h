// needs: core
// Integers in the order of the floats that they stand for; -0.0 is 0.0.
HELPER long order_of(float a) {
  const int bits = __builtin_bit_cast(int, a + 0.0f);
  return bits < 0 ? bits ^ 0x7fffffff : bits;
}
HELPER float float_of(long order) {
  const int bits = (int)order;
  return __builtin_bit_cast(float, bits < 0 ? bits ^ 0x7fffffff : bits);
}
