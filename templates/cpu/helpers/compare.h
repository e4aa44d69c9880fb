// needs: core combine
template <class T> HELPER T maximum(T a, T b) { return Max::combine(a, b); }  // NaN wins
template <class T> HELPER T minimum(T a, T b) { return Min::combine(a, b); }
