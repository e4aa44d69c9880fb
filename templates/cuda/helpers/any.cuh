struct Any {
  static __device__ __forceinline__ bool combine(bool a, bool b) { return a || b; }
};
