// The calls that emulated kernels make into the runtime.
#pragma once
#include "cuda_language.h"

// Where in the kernel text a call stands; filled in by default arguments at the call.
struct EmulatorPlace {
  const char* file;
  int line;
};

enum EmulatorOperation {
  EMULATOR_SYNC_WARP,
  EMULATOR_SHUFFLE,
  EMULATOR_SHUFFLE_XOR,
  EMULATOR_SHUFFLE_DOWN,
  EMULATOR_SHUFFLE_UP,
  EMULATOR_BALLOT,
};

// One by-value kernel argument; the launcher picks the member that its parameter type needs.
struct EmulatorArgument {
  int64_t integer;
  double real;
  void* pointer;
};

struct EmulatorLaunch {
  dim3 grid, block;
  size_t dynamic_shared_bytes;
  int resident_blocks;  // how many blocks run at the same time
  int schedule;         // 0 natural, 1 reverse, 2 random
  uint64_t seed;
};

extern "C" {
// Waits for the whole block; returns for how many threads the predicate was true.
int emulator_barrier(int predicate, EmulatorPlace place);
// Waits for the lanes in `mask`, and hands each the 16-byte value of its `source` lane.
void emulator_collective(EmulatorOperation operation, unsigned mask, int source, void* value,
                         int bytes, EmulatorPlace place);
void emulator_fence();
// Declares an atomic access; the caller then reads and writes without being checked.
void emulator_atomic(void* address, int bytes, int reads, int writes);
// Lets other threads run (a thread that spins must call this, or use atomics).
void emulator_pause();
// Reports that a thread trapped, and ends the launch.
void emulator_trap();
void* emulator_static_shared(const char* function, int index, const char* name, size_t bytes,
                             size_t alignment, size_t granule);
void* emulator_dynamic_shared(size_t granule);
int emulator_run(const EmulatorLaunch* launch, void (*entry)(void*), void* argument);
}
