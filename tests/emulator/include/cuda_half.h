// float16 and bfloat16 by bit arithmetic: what replaces helpers that hold inline PTX.
#pragma once
#include "cuda_math.h"

namespace emulator {

// A helper may take raw bits or a struct that holds them.
inline unsigned short bits_of(unsigned short bits) { return bits; }
template <class Half>
inline unsigned short bits_of(Half half) {
  return half.bits;
}

inline float bf16_to_float(unsigned short bits) {
  return __uint_as_float(static_cast<unsigned>(bits) << 16);
}

// cvt.rn.bf16.f32: to nearest even; every NaN becomes 0x7fff.
inline unsigned short float_to_bf16(float value) {
  if (value != value) return 0x7fff;
  const unsigned bits = __float_as_uint(value);
  const unsigned odd = (bits >> 16) & 1;
  return static_cast<unsigned short>((bits + 0x7fff + odd) >> 16);
}

// Multiplying by a power of two moves the exponent, and is exact for float16 subnormals too.
inline float f16_to_float(unsigned short bits) {
  const unsigned sign = static_cast<unsigned>(bits & 0x8000) << 16;
  const unsigned magnitude = static_cast<unsigned>(bits & 0x7fff) << 13;
  const bool finite = (bits & 0x7c00) != 0x7c00;
  if (!finite) return __uint_as_float(sign | magnitude | 0x7f800000u);
  const float value = __uint_as_float(magnitude) * 0x1p112f;
  return __uint_as_float(sign | __float_as_uint(value));
}

// cvt.rn.f16.f32: to nearest even, overflow to infinity; every NaN becomes 0x7fff.
inline unsigned short float_to_f16(float value) {
  const unsigned bits = __float_as_uint(value);
  const unsigned sign = (bits >> 16) & 0x8000;
  const unsigned magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7fff;
  if (magnitude >= 0x47800000u) return static_cast<unsigned short>(sign | 0x7c00);
  if (magnitude < 0x38800000u) {
    // Below 2^-14 the spacing is 2^-24, that of floats in [0.5, 1): the addition rounds.
    const float shifted = __uint_as_float(magnitude) + 0.5f;
    return static_cast<unsigned short>(sign | (__float_as_uint(shifted) - 0x3f000000u));
  }
  const unsigned odd = (magnitude >> 13) & 1;
  const unsigned rebiased = magnitude - (112u << 23);
  return static_cast<unsigned short>(sign | ((rebiased + 0xfff + odd) >> 13));
}

// max.NaN.f32 and min.NaN.f32: NaN wins, and -0 is less than +0.
inline float max_nan(float a, float b) {
  if (a != a || b != b) return __uint_as_float(0x7fffffffu);
  if (a == b) return __uint_as_float(__float_as_uint(a) & __float_as_uint(b));
  return a > b ? a : b;
}
inline float min_nan(float a, float b) {
  if (a != a || b != b) return __uint_as_float(0x7fffffffu);
  if (a == b) return __uint_as_float(__float_as_uint(a) | __float_as_uint(b));
  return a < b ? a : b;
}

}  // namespace emulator
