// needs: vec
// Keeps 16-bit lanes as they are in registers; the compiler would keep the floats made of them.
template <class T, int V>
__device__ __forceinline__ void keep_packed(Vec<T, V>& a) {
  unsigned* words = reinterpret_cast<unsigned*>(a.lane);
  #pragma unroll
  for (int i = 0; i < V / 2; ++i) asm volatile("" : "+r"(words[i]));
}
