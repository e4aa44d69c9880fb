// needs: core
// bool is one byte in memory, 0 or -1 in every lane of a vector.
typedef unsigned char vb __attribute__((vector_size(W)));
template <class M> HELPER vi load(const bool* p, M mask) {
  return __builtin_convertvector(load_as<vb>((const unsigned char*)p, mask), vi) != 0;
}
template <class M> HELPER void store(bool* p, vi v, M mask) {
  store_as((unsigned char*)p, __builtin_convertvector(v & 1, vb), mask);
}
