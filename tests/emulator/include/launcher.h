// Calls a kernel with arguments whose number and types are known to the compiler only.
#pragma once
#include "emulator_api.h"

namespace emulator {

template <class T>
struct Convert {  // structs by value
  EMULATOR_UNCHECKED static T from(const EmulatorArgument& a) {
    if constexpr (__is_class(T)) {
      return *static_cast<const T*>(a.pointer);
    } else {
      return static_cast<T>(a.integer);
    }
  }
};
template <class T>
struct Convert<T*> {
  EMULATOR_UNCHECKED static T* from(const EmulatorArgument& a) { return static_cast<T*>(a.pointer); }
};
template <>
struct Convert<float> {
  EMULATOR_UNCHECKED static float from(const EmulatorArgument& a) {
    return static_cast<float>(a.real);
  }
};
template <>
struct Convert<double> {
  EMULATOR_UNCHECKED static double from(const EmulatorArgument& a) { return a.real; }
};

template <class T>
struct Plain {
  typedef T Type;
};
template <class T>
struct Plain<const T> {
  typedef T Type;
};

template <int... Index>
struct Indices {};

template <class... Parameters>
struct Call {
  void (*kernel)(Parameters...);
  const EmulatorArgument* arguments;

  template <int... Index>
  EMULATOR_UNCHECKED void invoke(Indices<Index...>) const {
    kernel(Convert<typename Plain<Parameters>::Type>::from(arguments[Index])...);
  }
  EMULATOR_UNCHECKED static void enter(void* self) {
    static_cast<const Call*>(self)->invoke(Indices<__integer_pack(sizeof...(Parameters))...>());
  }
};

template <class... Parameters>
EMULATOR_UNCHECKED int launch(void (*kernel)(Parameters...), const EmulatorLaunch* configuration,
                              const EmulatorArgument* arguments) {
  Call<Parameters...> call = {kernel, arguments};
  return emulator_run(configuration, &Call<Parameters...>::enter, &call);
}

}  // namespace emulator
