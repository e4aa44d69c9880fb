// Storage for `__shared__` declarations. The text of a declaration is rewritten (see text.py) to
//   auto& slots = emulator::static_shared<float [2][8], 0>(__PRETTY_FUNCTION__, 0, "slots");
// so that every block has its own variables, with red zones between them.
#pragma once
#include "emulator_api.h"

namespace emulator {

template <class T>
struct Element {
  typedef T Type;
};
template <class T, size_t N>
struct Element<T[N]> {
  typedef typename Element<T>::Type Type;
};

// Races are told apart per byte in byte arrays, else per two bytes (a vector may hold bf16).
template <class T>
constexpr size_t granule_of() {
  return alignof(typename Element<T>::Type) < 2 ? 1 : 2;
}

// `function` is unique to each instantiation of a template, as CUDA's variable is. An alignment
// of 0 means the type's own.
template <class T, size_t ALIGNMENT>
inline T& static_shared(const char* function, int index, const char* name) {
  constexpr size_t alignment = ALIGNMENT > alignof(T) ? ALIGNMENT : alignof(T);
  return *static_cast<T*>(emulator_static_shared(function, index, name, sizeof(T), alignment,
                                                 granule_of<T>()));
}

template <class T>
inline T* dynamic_shared() {
  return static_cast<T*>(emulator_dynamic_shared(granule_of<T>()));
}

}  // namespace emulator
