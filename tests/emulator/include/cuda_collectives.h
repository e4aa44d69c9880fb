// Barriers, warp collectives and fences.
#pragma once
#include "emulator_api.h"

#define EMULATOR_PLACE_PARAMETERS const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define EMULATOR_PLACE (EmulatorPlace{file, line})

inline void __syncthreads(EMULATOR_PLACE_PARAMETERS) { emulator_barrier(0, EMULATOR_PLACE); }
inline int __syncthreads_count(int predicate, EMULATOR_PLACE_PARAMETERS) {
  return emulator_barrier(predicate, EMULATOR_PLACE);
}
inline int __syncthreads_or(int predicate, EMULATOR_PLACE_PARAMETERS) {
  return emulator_barrier(predicate, EMULATOR_PLACE) != 0;
}
inline int __syncthreads_and(int predicate, EMULATOR_PLACE_PARAMETERS) {
  return emulator_barrier(!predicate, EMULATOR_PLACE) == 0;
}

inline void __syncwarp(unsigned mask = 0xffffffffu, EMULATOR_PLACE_PARAMETERS) {
  emulator_collective(EMULATOR_SYNC_WARP, mask, 0, nullptr, 0, EMULATOR_PLACE);
}

template <class T>
EMULATOR_UNCHECKED inline T emulator_shuffle(EmulatorOperation operation, unsigned mask, T value,
                                             int source, EmulatorPlace place) {
  static_assert(sizeof(T) <= 16, "a shuffle moves at most 16 bytes here");
  emulator_collective(operation, mask, source, &value, sizeof(T), place);
  return value;
}

// Lanes are cut into segments of `width`; a source outside the own segment means the own value.
template <class T>
inline T __shfl_sync(unsigned mask, T value, int lane, int width = 32, EMULATOR_PLACE_PARAMETERS) {
  const int source = (emulator_lane & ~(width - 1)) | (lane & (width - 1));
  return emulator_shuffle(EMULATOR_SHUFFLE, mask, value, source, EMULATOR_PLACE);
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32,
                         EMULATOR_PLACE_PARAMETERS) {
  const int partner = emulator_lane ^ bits;
  const int segment = ~(width - 1);
  const bool beyond = (partner & segment) > (emulator_lane & segment);
  const int source = beyond ? emulator_lane : partner;
  return emulator_shuffle(EMULATOR_SHUFFLE_XOR, mask, value, source, EMULATOR_PLACE);
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                          EMULATOR_PLACE_PARAMETERS) {
  const bool inside = (emulator_lane & (width - 1)) + static_cast<int>(delta) < width;
  const int source = inside ? emulator_lane + static_cast<int>(delta) : emulator_lane;
  return emulator_shuffle(EMULATOR_SHUFFLE_DOWN, mask, value, source, EMULATOR_PLACE);
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                        EMULATOR_PLACE_PARAMETERS) {
  const bool inside = (emulator_lane & (width - 1)) >= static_cast<int>(delta);
  const int source = inside ? emulator_lane - static_cast<int>(delta) : emulator_lane;
  return emulator_shuffle(EMULATOR_SHUFFLE_UP, mask, value, source, EMULATOR_PLACE);
}

EMULATOR_UNCHECKED inline unsigned __ballot_sync(unsigned mask, int predicate,
                                                 EMULATOR_PLACE_PARAMETERS) {
  unsigned votes = predicate != 0;
  emulator_collective(EMULATOR_BALLOT, mask, 0, &votes, sizeof votes, EMULATOR_PLACE);
  return votes;
}
inline int __any_sync(unsigned mask, int predicate, EMULATOR_PLACE_PARAMETERS) {
  return __ballot_sync(mask, predicate, file, line) != 0;
}
inline int __all_sync(unsigned mask, int predicate, EMULATOR_PLACE_PARAMETERS) {
  return __ballot_sync(mask, !predicate, file, line) == 0;
}

inline void __threadfence() { emulator_fence(); }
// Orders nothing between blocks, and within a block barriers do the ordering here.
inline void __threadfence_block() {}
inline void __nanosleep(unsigned) { emulator_pause(); }
// Ends the launch; on a device also the context.
inline void __trap() { emulator_trap(); }
