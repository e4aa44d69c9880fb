// The CUDA C++ language as g++ sees it: qualifiers, built-in variables and vector types.
//
// Kernel text is compiled with this header in front. No C++ library header is included: starting
// g++ on the library costs more than compiling a kernel.
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifndef EMULATOR_RUNTIME  // the runtime is plain C++, and so are its headers
#define __device__
#define __host__
#define __global__
#define __constant__ static
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(bytes) alignas(bytes)
#define __restrict__ __restrict
#endif

// The emulator's own functions must not be checked as if they were kernel code.
#define EMULATOR_UNCHECKED __attribute__((no_sanitize("thread", "undefined")))

// The runtime changes these variables when it switches threads. A kernel thread sees constants, and
// the sanitizer does not instrument reads of constants.
#ifdef EMULATOR_RUNTIME
#define EMULATOR_BUILTIN
#else
#define EMULATOR_BUILTIN const
#endif

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x, y, z;
};

extern "C" {
extern EMULATOR_BUILTIN uint3 threadIdx, blockIdx;
extern EMULATOR_BUILTIN dim3 blockDim, gridDim;
extern EMULATOR_BUILTIN int emulator_lane;
}

static const int warpSize = 32;

#define EMULATOR_VECTOR_TYPES(SCALAR, PREFIX, ALIGN2, ALIGN4)                       \
  struct alignas(ALIGN2) PREFIX##2 {                                                \
    SCALAR x, y;                                                                    \
  };                                                                                \
  struct PREFIX##3 {                                                                \
    SCALAR x, y, z;                                                                 \
  };                                                                                \
  struct alignas(ALIGN4) PREFIX##4 {                                                \
    SCALAR x, y, z, w;                                                              \
  };                                                                                \
  inline PREFIX##2 make_##PREFIX##2(SCALAR x, SCALAR y) { return {x, y}; }          \
  inline PREFIX##3 make_##PREFIX##3(SCALAR x, SCALAR y, SCALAR z) { return {x, y, z}; } \
  inline PREFIX##4 make_##PREFIX##4(SCALAR x, SCALAR y, SCALAR z, SCALAR w) {       \
    return {x, y, z, w};                                                            \
  }

EMULATOR_VECTOR_TYPES(signed char, char, 2, 4)
EMULATOR_VECTOR_TYPES(unsigned char, uchar, 2, 4)
EMULATOR_VECTOR_TYPES(short, short, 4, 8)
EMULATOR_VECTOR_TYPES(unsigned short, ushort, 4, 8)
EMULATOR_VECTOR_TYPES(int, int, 8, 16)
EMULATOR_VECTOR_TYPES(float, float, 8, 16)
EMULATOR_VECTOR_TYPES(long long, longlong, 16, 16)
EMULATOR_VECTOR_TYPES(unsigned long long, ulonglong, 16, 16)
EMULATOR_VECTOR_TYPES(double, double, 16, 16)

struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
