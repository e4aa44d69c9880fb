// needs: core
// W 64-bit integers, and truth in lanes of their width.
typedef long vl __attribute__((vector_size(8 * W)));
HELPER vl spread(long a) { return vl{} + a; }
HELPER vl wide(vi truth) { return __builtin_convertvector(truth, vl); }
HELPER vi truth(vl wide) { return __builtin_convertvector(wide, vi); }
HELPER vl to_long(vf a) { return __builtin_convertvector(a, vl); }
HELPER vf to_float(vl a) { return __builtin_convertvector(a, vf); }
template <class M> HELPER vl load(const long* p, M mask) { return load_as<vl>(p, mask); }
template <class M> HELPER void store(long* p, vl v, M mask) { store_as(p, v, mask); }
