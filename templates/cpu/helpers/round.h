// needs: core lanes
HELPER float floor(float a) { return __builtin_floorf(a); }
HELPER float ceil(float a) { return __builtin_ceilf(a); }
HELPER float trunc(float a) { return __builtin_truncf(a); }
HELPER float round(float a) { return __builtin_rintf(a); }  // a half goes to the even neighbour
HELPER double floor(double a) { return __builtin_floor(a); }
HELPER double ceil(double a) { return __builtin_ceil(a); }
HELPER double trunc(double a) { return __builtin_trunc(a); }
HELPER double round(double a) { return __builtin_rint(a); }
#if defined(__AVX512F__) && !defined(__clang__)
#define ROUND(a, way) __builtin_ia32_rndscaleps_mask(a, way, vf{}, -1, 4)
#elif defined(__AVX2__) && !defined(__AVX512F__)
#define ROUND(a, way) __builtin_ia32_roundps256(a, way)
#endif
#if defined(ROUND)
HELPER vf floor(vf a) { return ROUND(a, 9); }
HELPER vf ceil(vf a) { return ROUND(a, 10); }
HELPER vf trunc(vf a) { return ROUND(a, 11); }
HELPER vf round(vf a) { return ROUND(a, 8); }
#else
HELPER vf floor(vf a) { return by_lanes([](float x) { return floor(x); }, a); }
HELPER vf ceil(vf a) { return by_lanes([](float x) { return ceil(x); }, a); }
HELPER vf trunc(vf a) { return by_lanes([](float x) { return trunc(x); }, a); }
HELPER vf round(vf a) { return by_lanes([](float x) { return round(x); }, a); }
#endif
