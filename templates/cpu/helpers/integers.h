// needs: core
// Shifts by any count, and quotients by what is neither 0 nor -1, as in PyTorch.
template <class T> HELPER T shift_left(T a, T b) {
  const int bits = 8 * sizeof(T);
  return b < 0 || b >= bits ? T(0) : T((unsigned long)a << b);
}
template <class T> HELPER T shift_right(T a, T b) {
  const int most = 8 * sizeof(T) - 1;
  return b < 0 || b > most ? T(a < 0 ? -1 : 0) : T(a >> b);
}
template <class T> HELPER T floor_quotient(T a, T b) {
  const T rest = a % b;
  return T(a / b - (rest != 0 && (rest < 0) != (b < 0)));
}
template <class T> HELPER T floor_rest(T a, T b) {
  const T rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? T(rest + b) : rest;
}
