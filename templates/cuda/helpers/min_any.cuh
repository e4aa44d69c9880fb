// Of integers and doubles; NaN wins. T is that of a: a shuffle makes an int of what is narrower.
struct MinAny {
  template <class T>
  static __device__ __forceinline__ T combine(T a, decltype(a) b) {
    return a < b || a != a ? a : b;
  }
};
