// needs:
// W floats or ints in one vector: 16 with AVX-512, 8 with AVX2, else 4. No include: <immintrin.h>
// alone would take longer to read than most kernels take to compile.
#define INLINE __attribute__((always_inline))
#define HELPER static inline __attribute__((always_inline))
template <int... I> struct Lanes {};
#if defined(__AVX512F__)
constexpr int W = 16;
typedef Lanes<0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15> AllLanes;
#elif defined(__AVX2__)
constexpr int W = 8;
typedef Lanes<0, 1, 2, 3, 4, 5, 6, 7> AllLanes;
#else
constexpr int W = 4;
typedef Lanes<0, 1, 2, 3> AllLanes;
#endif
typedef float vf __attribute__((vector_size(4 * W)));
typedef int vi __attribute__((vector_size(4 * W)));  // also truth: 0 or -1 in every lane
template <int N> struct Const { constexpr operator int() const { return N; } };
HELPER long least(long a, long b) { return a < b ? a : b; }
template <int... I> constexpr vi lane_numbers(Lanes<I...>) { return vi{I...}; }
constexpr vi lane = lane_numbers(AllLanes{});

HELPER vf fill(float a) { return a - vf{}; }  // a + 0 would lose -0.0

// Full: all lanes count. Tail: the first n do, 0 < n < W; others load 0 and store nothing.
struct Full {};
struct Tail { int n; };
HELPER vf pick(Full, vf a, vf) { return a; }
HELPER vf pick(Tail t, vf a, vf b) { return lane < t.n ? a : b; }

// The first n of W elements, in at most log2(W) pieces.
template <class T> HELPER void copy(T* to, const T* from, int n) {
#pragma GCC unroll 8
  for (int piece = W / 2; piece; piece /= 2) {
    if (!(n & piece)) continue;
    __builtin_memcpy(to, from, piece * sizeof(T));
    to += piece, from += piece;
  }
}
template <class V, class T> HELPER V load_as(const T* p, Full) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <class V, class T> HELPER V load_as(const T* p, Tail t) {
  V v = {};
  copy((T*)&v, p, t.n);
  return v;
}
template <class V, class T> HELPER void store_as(T* p, V v, Full) {
  __builtin_memcpy(p, &v, sizeof v);
}
template <class V, class T> HELPER void store_as(T* p, V v, Tail t) { copy(p, (const T*)&v, t.n); }
template <class M> HELPER vi load(const int* p, M mask) { return load_as<vi>(p, mask); }
template <class M> HELPER void store(int* p, vi v, M mask) { store_as(p, v, mask); }
HELPER vf load(const float* p, Full mask) { return load_as<vf>(p, mask); }
HELPER void store(float* p, vf v, Full mask) { store_as(p, v, mask); }
#if defined(__AVX512F__)
HELPER vf load(const float* p, Tail t) {
  return __builtin_ia32_loadups512_mask(p, vf{}, (1u << t.n) - 1);
}
HELPER void store(float* p, vf v, Tail t) {
  __builtin_ia32_storeups512_mask(p, v, (1u << t.n) - 1);
}
#elif defined(__AVX2__)
HELPER vf load(const float* p, Tail t) {
  return __builtin_ia32_maskloadps256((const vf*)p, lane < t.n);
}
HELPER void store(float* p, vf v, Tail t) {
  __builtin_ia32_maskstoreps256((vf*)p, lane < t.n, v);
}
#else
HELPER vf load(const float* p, Tail mask) { return load_as<vf>(p, mask); }
HELPER void store(float* p, vf v, Tail mask) { store_as(p, v, mask); }
#endif

template <int U, int I = 0, class F> HELPER void each(F f) {
  if constexpr (I < U) {
    f(Const<I>{});
    each<U, I + 1>(f);
  }
}
// f(i, u, mask) for the vectors of [begin, end); u = 0 .. U-1 names an independent accumulator.
template <int U, class F> HELPER void sweep(long begin, long end, F f) {
  long i = begin;
  for (; i + U * W <= end; i += U * W)
    each<U>([&](auto u) INLINE { f(i + u * W, u, Full{}); });
  for (; i + W <= end; i += W) f(i, Const<0>{}, Full{});
  if (i < end) f(i, Const<0>{}, Tail{(int)(end - i)});
}
