// Barriers of a block, collectives of a warp, fences and atomics.
#include <string.h>
#include <algorithm>
#include "errors.h"
#include "machine.h"

namespace emulator {

static bool same_place(EmulatorPlace a, EmulatorPlace b) {
  return a.line == b.line && strcmp(a.file, b.file) == 0;
}

// ---- barriers ----------------------------------------------------------------------------------

static void exchange_views(Block& block) {
  ViewPointer published, received, acquired;
  for (const Thread& thread : block.threads) {
    published = merged(published, thread.published);
    received = merged(received, thread.received);
    acquired = merged(acquired, thread.acquired);
  }
  for (Thread& thread : block.threads) {
    thread.published = published;
    thread.received = received;
    thread.acquired = acquired;
  }
}

static void complete_barrier(Block& block) {
  block.barrier_time = machine.now++;
  ++block.epoch;
  exchange_views(block);
  for (Thread& thread : block.threads) {
    thread.barrier_result = block.barrier_votes;
    make_ready(thread);
  }
  block.at_barrier = 0;
  block.barrier_votes = 0;
}

static void arrive_at_barrier(Thread& thread, int predicate, EmulatorPlace place) {
  Block& block = *thread.block;
  if (block.exited != 0) {
    report_and_stop("divergent barrier at " + name_of(place) + ": " +
                    std::to_string(block.exited) + " threads of the block have exited");
  }
  if (block.at_barrier == 0) block.barrier_place = place;
  if (!same_place(block.barrier_place, place)) {
    report_and_stop("divergent barrier: some threads wait at " + name_of(block.barrier_place) +
                    ", others at " + name_of(place));
  }
  thread.state = State::kAtBarrier;
  thread.waits_at = place;
  block.barrier_votes += predicate != 0;
  if (++block.at_barrier == static_cast<int>(block.threads.size())) complete_barrier(block);
}

// ---- warp collectives --------------------------------------------------------------------------

static Thread& lane_of(Block& block, int warp, int lane) {
  return block.threads[warp * kWarpSize + lane];
}

static unsigned lanes_of_warp(const Block& block, int warp) {
  const int lanes = static_cast<int>(block.threads.size()) - warp * kWarpSize;
  return lanes >= kWarpSize ? ~0u : (1u << lanes) - 1;
}

static void compute_results(Block& block, int warp, const Gathering& gathering) {
  unsigned votes = 0;
  for (unsigned rest = gathering.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    votes |= static_cast<unsigned>(lane_of(block, warp, lane).value[0] != 0) << lane;
  }
  for (unsigned rest = gathering.mask; rest != 0; rest &= rest - 1) {
    Thread& thread = lane_of(block, warp, __builtin_ctz(rest));
    const unsigned source = static_cast<unsigned>(thread.source_lane);
    if (gathering.operation == EMULATOR_BALLOT) {
      memcpy(thread.result, &votes, sizeof votes);
    } else if (source < kWarpSize && (gathering.mask >> source & 1) != 0) {
      memcpy(thread.result, lane_of(block, warp, static_cast<int>(source)).value, kLargestValue);
    } else {
      memset(thread.result, 0xff, kLargestValue);  // CUDA leaves it undefined
    }
  }
}

static void complete_collective(Block& block, int warp, const Gathering& gathering) {
  compute_results(block, warp, gathering);
  // Of the collectives only __syncwarp orders memory. Sub-warp ones are not counted: an order is
  // then missed, never invented.
  const bool orders = gathering.operation == EMULATOR_SYNC_WARP &&
                      gathering.mask == lanes_of_warp(block, warp);
  const Time time = machine.now;
  if (orders) ++machine.now;
  for (unsigned rest = gathering.mask; rest != 0; rest &= rest - 1) {
    Thread& thread = lane_of(block, warp, __builtin_ctz(rest));
    if (orders) {
      ++thread.warp_epoch;
      thread.warp_time = time;
    }
    make_ready(thread);
  }
}

static void refuse_exited_lanes(unsigned named, EmulatorPlace place) {
  report_and_stop("the warp collective at " + name_of(place) + " names lane " +
                  std::to_string(__builtin_ctz(named)) + ", which has exited");
}

static Gathering& join(std::vector<Gathering>& open, const Gathering& mine) {
  for (Gathering& other : open) {
    if ((other.mask & mine.mask) == 0) continue;
    if (other.mask != mine.mask || other.operation != mine.operation ||
        !same_place(other.place, mine.place)) {
      report_and_stop("divergent warp collectives: some lanes wait at " + name_of(other.place) +
                      ", others at " + name_of(mine.place));
    }
    return other;
  }
  open.push_back(mine);
  return open.back();
}

static void arrive_at_collective(Thread& thread, EmulatorOperation operation, unsigned mask,
                                 EmulatorPlace place) {
  Block& block = *thread.block;
  mask &= lanes_of_warp(block, thread.warp);
  if ((mask >> thread.lane & 1) == 0) {
    report_and_stop("the warp collective at " + name_of(place) + " is called by lane " +
                    std::to_string(thread.lane) + ", which is not in its mask");
  }
  const unsigned exited = mask & block.exited_lanes[thread.warp];
  if (exited != 0) refuse_exited_lanes(exited, place);

  std::vector<Gathering>& open = block.gatherings[thread.warp];
  Gathering& gathering = join(open, {mask, 0, operation, place});
  gathering.arrived |= 1u << thread.lane;
  thread.state = State::kInCollective;
  thread.waits_at = place;
  if (gathering.arrived != mask) return;
  complete_collective(block, thread.warp, gathering);
  open.erase(open.begin() + (&gathering - open.data()));
}

void leave_collectives(Thread& thread) {
  Block& block = *thread.block;
  thread.state = State::kExited;
  ++block.exited;
  block.exited_lanes[thread.warp] |= 1u << thread.lane;
  if (block.at_barrier != 0) {
    report_and_stop("divergent barrier at " + name_of(block.barrier_place) +
                    ": a thread exits while others of its block wait there");
  }
  for (const Gathering& gathering : block.gatherings[thread.warp]) {
    if ((gathering.mask >> thread.lane & 1) != 0) {
      refuse_exited_lanes(1u << thread.lane, gathering.place);
    }
  }
}

// ---- fences and atomics ------------------------------------------------------------------------

static void fence(Thread& thread) {
  thread.acquired = merged(thread.acquired, thread.received);
  thread.received = nullptr;

  auto own = std::make_shared<View>();
  BlockView& block = (*own)[thread.block->number];
  block.all = thread.block->barrier_time;
  block.know(~thread.warp, thread.warp_time);
  block.know(thread.number, machine.now);
  thread.published = merged(merged(thread.published, own), thread.acquired);
  thread.fence_time = machine.now++;
}

// What atomics on each word of global memory have published.
static std::unordered_map<const void*, ViewPointer> released;

void forget_released() { released.clear(); }

static void exchange_through(const void* address, Thread& thread, bool reads, bool writes) {
  auto found = released.find(address);
  const ViewPointer before = found == released.end() ? nullptr : found->second;
  if (reads) thread.received = merged(thread.received, before);
  if (writes && thread.published) released[address] = merged(before, thread.published);
  ++machine.now;
}

void access_atomically(void* address, int bytes, int reads, int writes,
                       const void* return_address) {
  // Others may come first: that is what makes an order that is merely lucky visible.
  emulator_pause();
  const Kind kind = writes != 0 ? Kind::kAtomic : Kind::kAtomicRead;
  check_access(static_cast<char*>(address), bytes, kind, return_address);
  exchange_through(address, *machine.current, reads != 0, writes != 0);
}

}  // namespace emulator

using emulator::machine;

extern "C" int emulator_barrier(int predicate, EmulatorPlace place) {
  emulator::settle_suspect_store();
  emulator::Thread& thread = *machine.current;
  emulator::arrive_at_barrier(thread, predicate, place);
  emulator::park(thread);
  return thread.barrier_result;
}

extern "C" void emulator_collective(EmulatorOperation operation, unsigned mask, int source,
                                    void* value, int bytes, EmulatorPlace place) {
  emulator::settle_suspect_store();
  emulator::Thread& thread = *machine.current;
  if (bytes != 0) memcpy(thread.value, value, bytes);
  thread.source_lane = source;
  emulator::arrive_at_collective(thread, operation, mask, place);
  emulator::park(thread);
  if (bytes != 0) memcpy(value, thread.result, bytes);
}

extern "C" void emulator_fence() {
  emulator::settle_suspect_store();
  emulator::fence(*machine.current);
}

extern "C" void emulator_atomic(void* address, int bytes, int reads, int writes) {
  emulator::access_atomically(address, bytes, reads, writes, __builtin_return_address(0));
}

extern "C" void emulator_pause() {
  emulator::settle_suspect_store();
  emulator::make_ready(*machine.current);
  emulator::park(*machine.current);
}

extern "C" void emulator_trap() {
  emulator::settle_suspect_store();
  emulator::report_and_stop("a thread trapped");
}
