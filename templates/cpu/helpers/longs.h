// needs: core
// W 64-bit integers, and truth in lanes of their width.
typedef long vl __attribute__((vector_size(8 * W)));
HELPER vl spread(long a) { return vl{} + a; }
HELPER vl positions(long first) { return __builtin_convertvector(lane, vl) + first; }
HELPER int near(long a) {  // as far from every lane's number as a, as comparisons see it
  return a < -1 ? -1 : a > W ? W : (int)a;
}
typedef long half_long __attribute__((vector_size(4 * W)));
typedef int half_int __attribute__((vector_size(2 * W)));
HELPER vl choose(vi truth, vl a, vl b) {  // by halves: of what is wider g++ makes single lanes
  half_int lanes[2];
  half_long yes[2], no[2];
  __builtin_memcpy(lanes, &truth, sizeof lanes);
  __builtin_memcpy(yes, &a, sizeof yes);
  __builtin_memcpy(no, &b, sizeof no);
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i)
    no[i] = __builtin_convertvector(lanes[i], half_long) ? yes[i] : no[i];
  __builtin_memcpy(&b, no, sizeof no);
  return b;
}
HELPER vl wide(vi truth) { return __builtin_convertvector(truth, vl); }
HELPER vi truth(vl wide) { return __builtin_convertvector(wide, vi); }
HELPER vl to_long(vf a) { return __builtin_convertvector(a, vl); }
HELPER vf to_float(vl a) { return __builtin_convertvector(a, vf); }
template <class M> HELPER vl load(const long* p, M mask) { return load_as<vl>(p, mask); }
template <class M> HELPER void store(long* p, vl v, M mask) { store_as(p, v, mask); }
