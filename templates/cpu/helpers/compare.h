// needs: core combine
template <class T> HELPER T maximum(T a, T b) { return Max::combine(a, b); }  // NaN wins
template <class T> HELPER T minimum(T a, T b) { return Min::combine(a, b); }
HELPER vf maximum(vf a, float b) { return maximum(a, fill(b)); }
HELPER vf minimum(vf a, float b) { return minimum(a, fill(b)); }
HELPER vf maximum(float a, vf b) { return maximum(fill(a), b); }
HELPER vf minimum(float a, vf b) { return minimum(fill(a), b); }
