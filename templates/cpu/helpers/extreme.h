// needs: core
// NaN wins, as in torch.maximum.
template <class T> HELPER T maximum(T a, T b) {
  const T larger = a > b ? a : b;  // b if either is NaN
  return a != a ? a : larger;
}
template <class T> HELPER T minimum(T a, T b) {
  const T smaller = a < b ? a : b;
  return a != a ? a : smaller;
}
