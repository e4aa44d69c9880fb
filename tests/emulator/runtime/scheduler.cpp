// Runs the blocks of a launch, a few at a time, and switches between their threads.
#include <stdlib.h>
#include <sys/mman.h>
#include <algorithm>
#include <map>
#include "errors.h"
#include "machine.h"

extern "C" {
uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;
int emulator_lane;
}

namespace emulator {

Machine machine;

void forget_released();

enum Schedule { kNatural, kReverse, kRandom };

static uint64_t next_random() {  // xorshift64*, Vigna 2016
  machine.random ^= machine.random >> 12;
  machine.random ^= machine.random << 25;
  machine.random ^= machine.random >> 27;
  return machine.random * 0x2545f4914f6cdd1d;
}

template <class T>
static void arrange(std::vector<T>& items) {
  if (machine.launch.schedule == kReverse) std::reverse(items.begin(), items.end());
  if (machine.launch.schedule != kRandom) return;
  for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[next_random() % i]);
}

void make_ready(Thread& thread) {
  thread.state = State::kReady;
  machine.ready.push_back(&thread);
}

void park(Thread& thread) { switch_context(thread.context, machine.scheduler); }

static void thread_main() {
  machine.entry(machine.argument);
  settle_suspect_store();
  leave_collectives(*machine.current);
  park(*machine.current);
  abort();  // an exited thread is never made ready
}

static void resume(Thread& thread) {
  machine.current = &thread;
  threadIdx = thread.index;
  blockIdx = thread.block->index;
  emulator_lane = thread.lane;
  switch_context(machine.scheduler, thread.context);
  machine.current = nullptr;
}

// ---- blocks ------------------------------------------------------------------------------------

static unsigned volume(dim3 size) { return size.x * size.y * size.z; }

static uint3 coordinates(unsigned number, dim3 size) {
  return {number % size.x, number / size.x % size.y, number / size.x / size.y};
}

// Stacks are kept between launches: making them anew would cost more than most kernels.
static char* stack_for(size_t number) {
  static std::vector<char*> stacks;
  while (stacks.size() <= number) {
    void* memory = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) abort();
    stacks.push_back(static_cast<char*>(memory));
  }
  return stacks[number];
}

static void start_block(Block& block, size_t slot, uint32_t number) {
  const EmulatorLaunch& launch = machine.launch;
  const size_t threads = volume(launch.block);
  const size_t warps = (threads + kWarpSize - 1) / kWarpSize;
  block.number = number;
  block.index = coordinates(number, launch.grid);
  block.gatherings.assign(warps, {});
  block.exited_lanes.assign(warps, 0);
  block.exited = block.at_barrier = block.barrier_votes = 0;
  block.epoch = 1;
  block.barrier_time = 0;
  block.shared.start_block(launch.dynamic_shared_bytes);
  block.threads.clear();
  block.threads.resize(threads);
  for (size_t i = 0; i < threads; ++i) {
    Thread& thread = block.threads[i];
    thread.stack = stack_for(slot * threads + i);
    thread.number = static_cast<int>(i);
    thread.warp = thread.number / kWarpSize;
    thread.lane = thread.number % kWarpSize;
    thread.index = coordinates(static_cast<unsigned>(i), launch.block);
    thread.block = &block;
    prepare(thread.context, thread.stack, kStackBytes, thread_main);
    make_ready(thread);
  }
}

static void report_deadlock() {
  std::map<std::string, int> waiting;
  for (const Block& block : machine.blocks) {
    for (const Thread& thread : block.threads) {
      if (thread.state == State::kExited) continue;
      const char* what = thread.state == State::kAtBarrier ? "the barrier" : "the collective";
      ++waiting[std::string(what) + " at " + name_of(thread.waits_at)];
    }
  }
  if (waiting.empty()) return;
  std::string message = "deadlock:";
  for (const auto& [where, count] : waiting) {
    message += " " + std::to_string(count) + " threads wait at " + where + ";";
  }
  message.pop_back();
  report_and_stop(message);
}

// Far beyond what a test needs, so that a thread that spins for ever ends with a message.
static constexpr uint64_t kMostSwitchesPerThread = 200000;

static void run_ready_threads(size_t threads) {
  uint64_t switches_left = kMostSwitchesPerThread * threads;
  std::vector<Thread*> batch;
  while (!machine.stopped && !machine.ready.empty()) {
    batch.swap(machine.ready);
    machine.ready.clear();
    arrange(batch);
    for (Thread* thread : batch) {
      if (machine.stopped) return;
      resume(*thread);
    }
    if (switches_left < batch.size()) {
      report_and_stop("no end: threads spin for ever on a word that nobody sets");
      return;
    }
    switches_left -= batch.size();
  }
}

static void run_blocks(const std::vector<uint32_t>& order) {
  const size_t resident = static_cast<size_t>(std::max(machine.launch.resident_blocks, 1));
  for (size_t first = 0; first < order.size() && !machine.stopped; first += resident) {
    const size_t count = std::min(resident, order.size() - first);
    machine.blocks.resize(count);
    machine.ready.clear();
    for (size_t i = 0; i < count; ++i) start_block(machine.blocks[i], i, order[first + i]);
    run_ready_threads(count * volume(machine.launch.block));
    settle_suspect_store();
    if (!machine.stopped) report_deadlock();
  }
}

}  // namespace emulator

extern "C" int emulator_run(const EmulatorLaunch* launch, void (*entry)(void*), void* argument) {
  using namespace emulator;
  machine.launch = *launch;
  machine.entry = entry;
  machine.argument = argument;
  machine.stopped = false;
  machine.now = 1;
  machine.random = launch->seed * 2 + 1;
  gridDim = launch->grid;
  blockDim = launch->block;
  forget_released();

  std::vector<uint32_t> order(volume(launch->grid));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
  arrange(order);
  run_blocks(order);
  machine.blocks.clear();
  return 0;
}
