#include "shadow.h"
#include <string.h>
#include <algorithm>
#include "errors.h"
#include "machine.h"

namespace emulator {

// Readers of other blocks than the one in the cell, where there are any.
static std::unordered_map<const Cell*, std::vector<Access>> other_readers;

void forget_other_readers() { other_readers.clear(); }

// ---- order -------------------------------------------------------------------------------------

static bool happened_before(const Access& access, const Thread& thread) {
  if (access.block == thread.block->number) {
    if (access.thread == thread.number) return true;
    if (access.epoch < thread.block->epoch) return true;
    if (access.warp == thread.warp && access.warp_epoch < thread.warp_epoch) return true;
  }
  if (!thread.acquired) return false;
  const auto known = thread.acquired->find(access.block);
  return known != thread.acquired->end() &&
         known->second.covers(access.thread, access.warp, access.time);
}

static Access access_of(const Thread& thread, Kind kind, uint32_t code) {
  Access access;
  access.time = machine.now;
  // An atomic is what publishes: whoever acquires what this thread has published so far has also
  // seen the atomic, although it comes after the fence.
  if (kind == Kind::kAtomic && thread.fence_time != 0) access.time = thread.fence_time;
  access.block = thread.block->number;
  access.epoch = thread.block->epoch;
  access.warp_epoch = thread.warp_epoch;
  access.code = code;
  access.thread = static_cast<int16_t>(thread.number);
  access.warp = static_cast<int16_t>(thread.warp);
  access.atomic = kind == Kind::kAtomic || kind == Kind::kAtomicRead;
  return access;
}

// ---- messages ----------------------------------------------------------------------------------

static std::string element(const Region& region, const char* address) {
  const size_t offset = static_cast<size_t>(address - region.begin);
  return region.name + "[" + std::to_string(offset / region.item_bytes) + "]";
}

static std::string place_now(const void* return_address) {
  return place_of(code_offset(return_address));
}

static std::string missing_order(const Access& before, const Thread& thread) {
  if (before.block == thread.block->number) return "no barrier in between";
  const auto knows = [&](const ViewPointer& view) {
    if (!view) return false;
    const auto known = view->find(before.block);
    return known != view->end() && known->second.covers(before.thread, before.warp, before.time);
  };
  if (knows(thread.received)) return "no __threadfence after the atomic that tells of it";
  return "no __threadfence followed by an atomic in between";
}

static std::string race_message(const char* what, const Region& region, const char* address,
                                const Access& before, const void* return_address) {
  const Thread& thread = *machine.current;
  std::string who = before.block == thread.block->number ? "the same block"
                                                         : "block " + std::to_string(before.block);
  who = (before.thread == kSeveral ? std::string("several threads")
                                   : "thread " + std::to_string(before.thread)) +
        " of " + who;
  return std::string(what) + " race on " + element(region, address) + " at " +
         place_now(return_address) + ", with " + who + " at " + place_of(before.code) + ": " +
         missing_order(before, thread);
}

// One report for all the accesses of an instruction that race in the same way.
static std::string race_key(const char* what, const Access& before, const Access& now) {
  return what + std::to_string(now.code) + (before.block == now.block ? " inside" : " across");
}

// ---- stores that may have changed nothing ------------------------------------------------------

struct SuspectStore {
  bool active = false;
  char* address = nullptr;
  size_t bytes = 0;
  unsigned char before[16] = {};
  std::string key, message;
};

static SuspectStore suspect;

void settle_suspect_store() {
  if (!suspect.active) return;
  suspect.active = false;
  if (memcmp(suspect.before, suspect.address, suspect.bytes) != 0) {
    report(suspect.key, suspect.message);
  }
}

static void suspect_store(char* address, size_t bytes, const std::string& key,
                          const std::string& message) {
  if (bytes > sizeof suspect.before) {
    report(key, message);
    return;
  }
  suspect.active = true;
  suspect.address = address;
  suspect.bytes = bytes;
  memcpy(suspect.before, address, bytes);
  suspect.key = key;
  suspect.message = message;
}

// ---- one granule -------------------------------------------------------------------------------

// The one access of a whole cell range, as the functions below need it.
struct Step {
  Region& region;
  char* address;  // of the whole access
  size_t bytes;
  const void* return_address;
  const Thread& thread;
  Access access;
};

static void report_race(const char* what, const Step& step, const char* at, const Access& before) {
  report(race_key(what, before, step.access),
         race_message(what, step.region, at, before, step.return_address));
}

// Atomics do not race with each other.
static bool both_atomic(const Access& before, const Step& step) {
  return before.atomic && step.access.atomic;
}

static void remember_reader(Cell& cell, const Step& step) {
  Access& read = cell.read;
  if (!read.happened() || happened_before(read, step.thread)) {
    read = step.access;
    return;
  }
  Access* mine = nullptr;
  if (read.block == step.access.block) {
    mine = &read;
  } else {
    cell.read_by_more = true;
    std::vector<Access>& others = other_readers[&cell];
    for (Access& other : others) {
      if (other.block == step.access.block) mine = &other;
    }
    if (mine == nullptr) {
      others.push_back(step.access);
      return;
    }
  }
  // Several readers of one block, since its last barrier, are kept as one.
  const int16_t thread = mine->thread == step.access.thread ? mine->thread : kSeveral;
  const int16_t warp = mine->warp == step.access.warp ? mine->warp : kSeveral;
  const bool atomic = mine->atomic && step.access.atomic;
  *mine = step.access;
  mine->thread = thread;
  mine->warp = warp;
  mine->atomic = atomic;
}

static void check_read(Cell& cell, const Step& step, const char* at) {
  if (!cell.write.happened()) {
    if (step.region.starts_undefined) {
      report("undefined" + std::to_string(step.access.code),
             "read of uninitialised " + element(step.region, at) + " at " +
                 place_of(step.access.code));
    }
  } else if (!both_atomic(cell.write, step) && !happened_before(cell.write, step.thread)) {
    report_race("read-after-write", step, at, cell.write);
  }
  remember_reader(cell, step);
}

static void check_write(Cell& cell, const Step& step, const char* at) {
  if (cell.write.happened() && !both_atomic(cell.write, step) &&
      !happened_before(cell.write, step.thread)) {
    const char* what = "write-after-write";
    const std::string key = race_key(what, cell.write, step.access);
    const std::string message =
        race_message(what, step.region, at, cell.write, step.return_address);
    if (step.access.atomic) {
      report(key, message);
    } else {
      suspect_store(step.address, step.bytes, key, message);
    }
  }
  if (cell.read.happened() && !both_atomic(cell.read, step) &&
      !happened_before(cell.read, step.thread)) {
    report_race("write-after-read", step, at, cell.read);
  }
  if (cell.read_by_more) {
    for (const Access& read : other_readers[&cell]) {
      if (both_atomic(read, step) || happened_before(read, step.thread)) continue;
      report_race("write-after-read", step, at, read);
    }
    other_readers.erase(&cell);
    cell.read_by_more = false;
  }
  cell.read = Access{};
  cell.write = step.access;
}

// ---- one access --------------------------------------------------------------------------------

static const char* verb(Kind kind) {
  switch (kind) {
    case Kind::kRead: return "read";
    case Kind::kWrite: return "write";
    case Kind::kAtomic: return "atomic";
    case Kind::kAtomicRead: return "volatile read";
  }
  return "";
}

static bool only_reads(Kind kind) { return kind == Kind::kRead || kind == Kind::kAtomicRead; }

static Region* region_of(char* address, Thread& thread) {
  if (thread.block->shared.contains(address)) return thread.block->shared.find(address);
  return find_buffer(address);
}

void check_access(char* address, size_t bytes, Kind kind, const void* return_address) {
  settle_suspect_store();
  if (machine.current == nullptr) return;
  Thread& thread = *machine.current;
  if (thread.stack <= address && address < thread.stack + kStackBytes) return;  // a local variable

  Region* region = region_of(address, thread);
  if (region == nullptr) {
    if (only_reads(kind) && in_library(address)) return;  // a constant of the kernel text
    report_and_stop("out-of-bounds " + std::string(verb(kind)) + " of " + std::to_string(bytes) +
                    " bytes at " + place_now(return_address) + ", " + describe_stray(address));
    return;
  }
  if (address + bytes > region->end) {
    report_and_stop("out-of-bounds " + std::string(verb(kind)) + " of " + std::to_string(bytes) +
                    " bytes at " + place_now(return_address) + " runs past the end of " +
                    region->name);
    return;
  }
  if (!only_reads(kind) && !region->writable) {
    report_and_stop("write to read-only " + element(*region, address) + " at " +
                    place_now(return_address));
    return;
  }
  if (region->cells == nullptr) return;

  const uint32_t code = code_offset(return_address);
  Step step = {*region, address, bytes, return_address, thread, access_of(thread, kind, code)};
  const size_t first = static_cast<size_t>(address - region->begin) >> region->granule_shift;
  const size_t last =
      static_cast<size_t>(address + bytes - 1 - region->begin) >> region->granule_shift;
  for (size_t i = first; i <= last; ++i) {
    const char* at = region->begin + (i << region->granule_shift);
    if (only_reads(kind)) {
      check_read(region->cells[i], step, at);
    } else {
      check_write(region->cells[i], step, at);
    }
  }
}

}  // namespace emulator
