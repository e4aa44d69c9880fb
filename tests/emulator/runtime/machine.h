// The emulated machine: threads, blocks, and the launch they belong to.
#pragma once
#define EMULATOR_RUNTIME
#include "../include/emulator_api.h"
#include <stdint.h>
#include <string>
#include <vector>
#include "fiber.h"
#include "shadow.h"
#include "views.h"

namespace emulator {

constexpr int kWarpSize = 32;
constexpr size_t kStackBytes = 256 << 10;  // reserved; touched pages only are committed
constexpr size_t kLargestValue = 16;       // bytes moved by one shuffle

enum class State { kReady, kAtBarrier, kInCollective, kExited };

struct Block;

struct Thread {
  Context context;
  char* stack = nullptr;
  State state = State::kReady;
  uint3 index = {};
  int number = 0;  // within the block
  int warp = 0;
  int lane = 0;
  Block* block = nullptr;

  EmulatorPlace waits_at = {};
  int source_lane = 0;  // the operand of a shuffle
  unsigned char value[kLargestValue] = {};
  unsigned char result[kLargestValue] = {};
  int barrier_result = 0;

  uint32_t warp_epoch = 0;  // __syncwarps of the whole warp so far
  Time warp_time = 0;       // when the last one was
  Time fence_time = 0;      // when the last __threadfence was
  ViewPointer published, received, acquired;
};

// A warp collective that some of its lanes have reached.
struct Gathering {
  unsigned mask;
  unsigned arrived;
  EmulatorOperation operation;
  EmulatorPlace place;
};

struct Block {
  uint32_t number = 0;  // within the grid
  uint3 index = {};
  std::vector<Thread> threads;
  std::vector<std::vector<Gathering>> gatherings;  // per warp; disjoint masks may be open together
  std::vector<unsigned> exited_lanes;              // per warp
  int exited = 0;

  int at_barrier = 0;
  int barrier_votes = 0;
  EmulatorPlace barrier_place = {};
  uint32_t epoch = 1;     // barriers so far
  Time barrier_time = 0;  // when the last one was

  SharedMemory shared;
};

struct Machine {
  EmulatorLaunch launch = {};
  void (*entry)(void*) = nullptr;
  void* argument = nullptr;

  std::vector<Block> blocks;  // those that run now
  std::vector<Thread*> ready;
  Thread* current = nullptr;  // null while the scheduler runs
  Context scheduler;
  bool stopped = false;  // by an error that cannot be survived
  Time now = 1;
  uint64_t random = 0;
};

extern Machine machine;

void make_ready(Thread& thread);
// Gives the processor back to the scheduler.
void park(Thread& thread);
// Called when a thread has returned from the kernel.
void leave_collectives(Thread& thread);
// An access that races with no other atomic one, and passes on what is known.
void access_atomically(void* address, int bytes, int reads, int writes,
                       const void* return_address);
std::string name_of(const Thread& thread);
std::string name_of(EmulatorPlace place);

}  // namespace emulator
