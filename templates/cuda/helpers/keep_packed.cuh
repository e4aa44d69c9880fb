// needs: vec
// Keeps 16-bit lanes packed in registers, where the compiler would keep the floats made of them.
template <class T, int V>
__device__ __forceinline__ Vec<T, V>& keep_packed(Vec<T, V>& a) {
  unsigned* words = reinterpret_cast<unsigned*>(a.lane);
  #pragma unroll
  for (int i = 0; i < V / 2; ++i) asm volatile("" : "+r"(words[i]));
  return a;
}
