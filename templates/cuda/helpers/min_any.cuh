// Of integers and doubles; NaN wins.
struct MinAny {
  template <class T>
  static __device__ __forceinline__ T combine(T a, T b) {
    return a < b || a != a ? a : b;
  }
};
