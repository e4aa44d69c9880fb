// Atomics (relaxed, device scope), and loads and stores with cache hints.
#pragma once
#include "emulator_api.h"

namespace emulator {
// Keeps a parameter out of template deduction: atomicAdd(counter, 1) for an unsigned counter.
template <class T>
struct Same {
  typedef T Type;
};
}  // namespace emulator

#define EMULATOR_ATOMIC(NAME, NEW_VALUE)                                                    \
  template <class T>                                                                       \
  EMULATOR_UNCHECKED inline T NAME(T* address, typename emulator::Same<T>::Type operand) { \
    emulator_atomic(address, sizeof(T), 1, 1);                                             \
    const T old = *address;                                                                \
    *address = NEW_VALUE;                                                                  \
    return old;                                                                            \
  }

EMULATOR_ATOMIC(atomicAdd, old + operand)
EMULATOR_ATOMIC(atomicSub, old - operand)
EMULATOR_ATOMIC(atomicMax, old < operand ? operand : old)
EMULATOR_ATOMIC(atomicMin, operand < old ? operand : old)
EMULATOR_ATOMIC(atomicExch, operand)
EMULATOR_ATOMIC(atomicAnd, old & operand)
EMULATOR_ATOMIC(atomicOr, old | operand)
EMULATOR_ATOMIC(atomicXor, old ^ operand)
EMULATOR_ATOMIC(atomicInc, old >= operand ? 0 : old + 1)

template <class T>
EMULATOR_UNCHECKED inline T atomicCAS(T* address, typename emulator::Same<T>::Type expected,
                                      typename emulator::Same<T>::Type desired) {
  emulator_atomic(address, sizeof(T), 1, 1);
  const T old = *address;
  if (old == expected) *address = desired;
  return old;
}

#define EMULATOR_HINTED_LOAD(NAME) \
  template <class T>               \
  inline T NAME(const T* address) { \
    return *address;               \
  }
#define EMULATOR_HINTED_STORE(NAME)        \
  template <class T>                       \
  inline void NAME(T* address, T value) {  \
    *address = value;                      \
  }

EMULATOR_HINTED_LOAD(__ldg)
EMULATOR_HINTED_LOAD(__ldca)
EMULATOR_HINTED_LOAD(__ldcg)
EMULATOR_HINTED_LOAD(__ldcs)
EMULATOR_HINTED_LOAD(__ldlu)
EMULATOR_HINTED_STORE(__stcg)
EMULATOR_HINTED_STORE(__stcs)
EMULATOR_HINTED_STORE(__stwb)
EMULATOR_HINTED_STORE(__stwt)
