// The functions that the sanitizers of g++ call. Kernels are compiled with
//   -fsanitize=thread -fsanitize=alignment,bounds,integer-divide-by-zero
// but linked with these functions instead of the sanitizers' own libraries.
#include <stdint.h>
#include "errors.h"
#include "machine.h"
#include "shadow.h"

using emulator::check_access;
using emulator::Kind;

#define EMULATOR_HOOK(NAME, BYTES, KIND)                                             \
  extern "C" void NAME(void* address) {                                              \
    check_access(static_cast<char*>(address), BYTES, KIND, __builtin_return_address(0)); \
  }

// A volatile access is a relaxed atomic one, and tells what atomics tell.
#define EMULATOR_VOLATILE_HOOK(NAME, BYTES, READS, WRITES) \
  extern "C" void NAME(void* address) {                                               \
    emulator::access_atomically(address, BYTES, READS, WRITES, __builtin_return_address(0)); \
  }

#define EMULATOR_HOOKS(BYTES)                                            \
  EMULATOR_HOOK(__tsan_read##BYTES, BYTES, Kind::kRead)                  \
  EMULATOR_HOOK(__tsan_write##BYTES, BYTES, Kind::kWrite)                \
  EMULATOR_HOOK(__tsan_unaligned_read##BYTES, BYTES, Kind::kRead)        \
  EMULATOR_HOOK(__tsan_unaligned_write##BYTES, BYTES, Kind::kWrite)      \
  EMULATOR_VOLATILE_HOOK(__tsan_volatile_read##BYTES, BYTES, 1, 0)       \
  EMULATOR_VOLATILE_HOOK(__tsan_volatile_write##BYTES, BYTES, 0, 1)

EMULATOR_HOOKS(1)
EMULATOR_HOOKS(2)
EMULATOR_HOOKS(4)
EMULATOR_HOOKS(8)
EMULATOR_HOOKS(16)

extern "C" void __tsan_read_range(void* address, size_t bytes) {
  check_access(static_cast<char*>(address), bytes, Kind::kRead, __builtin_return_address(0));
}

extern "C" void __tsan_write_range(void* address, size_t bytes) {
  check_access(static_cast<char*>(address), bytes, Kind::kWrite, __builtin_return_address(0));
}

extern "C" void __tsan_init() {}
extern "C" void __tsan_func_entry(void*) {}
extern "C" void __tsan_func_exit() {}

// The beginnings of the records that UndefinedBehaviorSanitizer passes.
struct SourceLocation {
  const char* file;
  uint32_t line;
  uint32_t column;
};

struct TypeMismatch {
  SourceLocation location;
  const void* type;
  unsigned char log_alignment;
};

static std::string name_of(const SourceLocation& location) {
  return std::string(location.file) + ":" + std::to_string(location.line);
}

extern "C" void __ubsan_handle_type_mismatch_v1(const TypeMismatch* data, uintptr_t address) {
  const uintptr_t alignment = uintptr_t{1} << data->log_alignment;
  emulator::report_and_stop("misaligned access at " + name_of(data->location) + ": the address is " +
                            std::to_string(address % alignment) + " past a multiple of " +
                            std::to_string(alignment));
}

extern "C" void __ubsan_handle_out_of_bounds(const SourceLocation* location, uintptr_t index) {
  emulator::report_and_stop("index " + std::to_string(static_cast<intptr_t>(index)) +
                            " out of the bounds of an array at " + name_of(*location));
}

extern "C" void __ubsan_handle_divrem_overflow(const SourceLocation* location, uintptr_t,
                                               uintptr_t) {
  emulator::report_and_stop("integer division by zero at " + name_of(*location));
}
