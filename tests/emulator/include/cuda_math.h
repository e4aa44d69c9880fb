// CUDA's built-in arithmetic: bit casts, rounding intrinsics, and C++ overloads of C functions.
//
// Results may differ from a GPU's in the last bits; contraction into FMA is off on both sides.
#pragma once
#include <math.h>
#include "cuda_language.h"

// NVRTC predefines neither; kernel text may.
#undef INFINITY
#undef NAN

#define EMULATOR_BIT_CAST(NAME, TO, FROM) \
  inline TO NAME(FROM value) { return __builtin_bit_cast(TO, value); }

EMULATOR_BIT_CAST(__int_as_float, float, int)
EMULATOR_BIT_CAST(__float_as_int, int, float)
EMULATOR_BIT_CAST(__uint_as_float, float, unsigned)
EMULATOR_BIT_CAST(__float_as_uint, unsigned, float)
EMULATOR_BIT_CAST(__longlong_as_double, double, long long)
EMULATOR_BIT_CAST(__double_as_longlong, long long, double)

// Single rounding, to nearest even: what plain operators do here.
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline float __frcp_rn(float a) { return 1.0f / a; }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline float __frsqrt_rn(float a) { return static_cast<float>(1.0 / sqrt(static_cast<double>(a))); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

// Approximations on a GPU; the exact function here.
inline float __fdividef(float a, float b) { return a / b; }
inline float __expf(float a) { return expf(a); }
inline float __exp10f(float a) { return powf(10.0f, a); }
inline float __logf(float a) { return logf(a); }
inline float __log2f(float a) { return log2f(a); }
inline float __log10f(float a) { return log10f(a); }
inline float __sinf(float a) { return sinf(a); }
inline float __cosf(float a) { return cosf(a); }
inline float __tanf(float a) { return tanf(a); }
inline float __powf(float a, float b) { return powf(a, b); }
inline float __saturatef(float a) { return a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f; }

// Functions that CUDA has and C has not.
inline float rsqrtf(float a) { return 1.0f / sqrtf(a); }
inline double rsqrt(double a) { return 1.0 / sqrt(a); }
inline float rcbrtf(float a) { return 1.0f / cbrtf(a); }
inline float sinpif(float a) {
  return static_cast<float>(sin(M_PI * fmod(static_cast<double>(a), 2.0)));
}
inline float cospif(float a) {
  return static_cast<float>(cos(M_PI * fmod(static_cast<double>(a), 2.0)));
}
inline float normcdff(float a) { return 0.5f * erfcf(-a * 0.70710678f); }

// C++ overloads for float, as CUDA has them.
#define EMULATOR_FLOAT_OVERLOAD(NAME) \
  inline float NAME(float a) { return NAME##f(a); }
#define EMULATOR_FLOAT_OVERLOAD2(NAME) \
  inline float NAME(float a, float b) { return NAME##f(a, b); }

EMULATOR_FLOAT_OVERLOAD(acos)
EMULATOR_FLOAT_OVERLOAD(acosh)
EMULATOR_FLOAT_OVERLOAD(asin)
EMULATOR_FLOAT_OVERLOAD(asinh)
EMULATOR_FLOAT_OVERLOAD(atan)
EMULATOR_FLOAT_OVERLOAD(atanh)
EMULATOR_FLOAT_OVERLOAD(cbrt)
EMULATOR_FLOAT_OVERLOAD(ceil)
EMULATOR_FLOAT_OVERLOAD(cos)
EMULATOR_FLOAT_OVERLOAD(cosh)
EMULATOR_FLOAT_OVERLOAD(erf)
EMULATOR_FLOAT_OVERLOAD(erfc)
EMULATOR_FLOAT_OVERLOAD(exp)
EMULATOR_FLOAT_OVERLOAD(exp2)
EMULATOR_FLOAT_OVERLOAD(expm1)
EMULATOR_FLOAT_OVERLOAD(fabs)
EMULATOR_FLOAT_OVERLOAD(floor)
EMULATOR_FLOAT_OVERLOAD(lgamma)
EMULATOR_FLOAT_OVERLOAD(log)
EMULATOR_FLOAT_OVERLOAD(log10)
EMULATOR_FLOAT_OVERLOAD(log1p)
EMULATOR_FLOAT_OVERLOAD(log2)
EMULATOR_FLOAT_OVERLOAD(nearbyint)
EMULATOR_FLOAT_OVERLOAD(rint)
EMULATOR_FLOAT_OVERLOAD(round)
EMULATOR_FLOAT_OVERLOAD(rsqrt)
EMULATOR_FLOAT_OVERLOAD(sin)
EMULATOR_FLOAT_OVERLOAD(sinh)
EMULATOR_FLOAT_OVERLOAD(sqrt)
EMULATOR_FLOAT_OVERLOAD(tan)
EMULATOR_FLOAT_OVERLOAD(tanh)
EMULATOR_FLOAT_OVERLOAD(tgamma)
EMULATOR_FLOAT_OVERLOAD(trunc)
EMULATOR_FLOAT_OVERLOAD2(atan2)
EMULATOR_FLOAT_OVERLOAD2(copysign)
EMULATOR_FLOAT_OVERLOAD2(fmax)
EMULATOR_FLOAT_OVERLOAD2(fmin)
EMULATOR_FLOAT_OVERLOAD2(fmod)
EMULATOR_FLOAT_OVERLOAD2(hypot)
EMULATOR_FLOAT_OVERLOAD2(nextafter)
EMULATOR_FLOAT_OVERLOAD2(pow)
inline float fma(float a, float b, float c) { return fmaf(a, b, c); }

inline int abs(int a) { return a < 0 ? -a : a; }
inline long abs(long a) { return a < 0 ? -a : a; }
inline long long abs(long long a) { return a < 0 ? -a : a; }
inline long long llabs(long long a) { return a < 0 ? -a : a; }
inline float abs(float a) { return fabsf(a); }
inline double abs(double a) { return fabs(a); }

// min and max of mixed integer types follow the usual conversions; of floats they drop NaN.
template <class A, class B>
inline auto min(A a, B b) -> decltype(a + b) {
  return b < a ? b : a;
}
template <class A, class B>
inline auto max(A a, B b) -> decltype(a + b) {
  return a < b ? b : a;
}
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }

inline int __popc(unsigned a) { return __builtin_popcount(a); }
inline int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
inline int __ffs(int a) { return __builtin_ffs(a); }
inline int __clz(int a) { return a != 0 ? __builtin_clz(static_cast<unsigned>(a)) : 32; }
inline int __clzll(long long a) {
  return a != 0 ? __builtin_clzll(static_cast<unsigned long long>(a)) : 64;
}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<uint64_t>(a) * b) >> 32);
}
inline int __mulhi(int a, int b) {
  return static_cast<int>((static_cast<int64_t>(a) * b) >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>((static_cast<unsigned __int128>(a) * b) >> 64);
}
inline int __float2int_rn(float a) { return static_cast<int>(rintf(a)); }
inline int __float2int_rz(float a) { return static_cast<int>(a); }
inline int __float2int_rd(float a) { return static_cast<int>(floorf(a)); }
inline float __int2float_rn(int a) { return static_cast<float>(a); }
