// Which memory accesses of other threads a thread may rely on: happens-before between blocks.
//
// The runtime executes one thread at a time and counts synchronising events, so every access has
// a time. A view says, per block, up to what time the accesses of its threads are known. CUDA
// orders accesses of different blocks only through this chain:
//
//   access -> __threadfence -> atomic on a word -> atomic on the same word -> __threadfence -> access
//
// where each arrow may also pass through a __syncthreads of one block. Therefore a thread has
// three views: `published` (what its next atomic releases), `received` (what atomics have told it
// since its last fence) and `acquired` (what it may rely on).
#pragma once
#include <stdint.h>
#include <map>
#include <memory>

namespace emulator {

using Time = uint64_t;

// What is known of one block. Keys of `some` are thread numbers, or ~w for all of warp w.
struct BlockView {
  Time all = 0;
  std::map<int, Time> some;

  void merge(const BlockView& other) {
    if (all < other.all) all = other.all;
    for (const auto& [who, time] : other.some) know(who, time);
  }
  void know(int who, Time time) {
    if (time <= all) return;
    Time& known = some[who];
    if (known < time) known = time;
  }
  bool covers(int thread, int warp, Time time) const {
    return time <= all || covered_by(thread, time) || covered_by(~warp, time);
  }

 private:
  bool covered_by(int who, Time time) const {
    const auto found = some.find(who);
    return found != some.end() && time <= found->second;
  }
};

using View = std::map<uint32_t, BlockView>;

// Views are shared and never changed once made: most threads of a block have the same one.
using ViewPointer = std::shared_ptr<const View>;

inline ViewPointer merged(const ViewPointer& a, const ViewPointer& b) {
  if (!b || a == b) return a;
  if (!a) return b;
  auto both = std::make_shared<View>(*a);
  for (const auto& [block, view] : *b) (*both)[block].merge(view);
  return both;
}

}  // namespace emulator
