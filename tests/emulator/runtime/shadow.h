// What is remembered of every piece of memory: who wrote it last, who has read it since.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>
#include "views.h"

namespace emulator {

struct Thread;

constexpr int kSeveral = -1;  // several threads, or several warps, of one block

struct Access {
  Time time = 0;  // 0: never
  uint32_t block = 0;
  uint32_t epoch = 0;
  uint32_t warp_epoch = 0;
  uint32_t code = 0;  // where in the kernel
  int16_t thread = 0;
  int16_t warp = 0;
  bool atomic = false;

  bool happened() const { return time != 0; }
};

// The shadow of one granule of memory (1, 2 or 4 bytes).
struct Cell {
  Access write;
  Access read;                // by one block
  bool read_by_more = false;  // the readers of other blocks are in a side table
};

enum class Kind { kRead, kWrite, kAtomic, kAtomicRead };

// A contiguous piece of memory with a name: a kernel's buffer, or a __shared__ variable.
struct Region {
  std::string name;
  char* begin = nullptr;
  char* end = nullptr;
  size_t item_bytes = 1;  // to print an element's number
  int granule_shift = 0;
  bool shared = false;
  bool writable = true;
  bool starts_undefined = false;  // must be written before it is read
  Cell* cells = nullptr;          // none for read-only buffers

  bool contains(const char* address) const { return begin <= address && address < end; }
  size_t granules() const {
    const size_t granule = size_t{1} << granule_shift;
    return (static_cast<size_t>(end - begin) + granule - 1) >> granule_shift;
  }
};

// Checks one access of the running thread against bounds and races, and remembers it.
void check_access(char* address, size_t bytes, Kind kind, const void* return_address);

// A store that races with another store is forgiven if it changes nothing, as when many threads
// set the same flag. That is known only after the store: at the next call into the runtime.
void settle_suspect_store();

// Forgets side tables that refer to cells of a finished launch or block.
void forget_other_readers();

Region* find_buffer(const char* address);
// Describes an address outside every region.
std::string describe_stray(const char* address);
// Whether the address lies in constants and variables of the kernel library itself.
bool in_library(const char* address);

struct SharedVariable {
  const char* function;
  int index;
  Region region;
};

// A block's shared memory: variables get their places at first use, red zones between them.
class SharedMemory {
 public:
  void start_block(size_t dynamic_bytes);
  char* variable(const char* function, int index, const char* name, size_t bytes,
                 size_t alignment, size_t granule);
  char* dynamic(size_t granule);
  bool contains(const char* address) const {
    return memory_ && memory_.get() <= address && address < memory_.get() + kCapacity;
  }
  Region* find(const char* address);
  std::string describe_stray(const char* address) const;

 private:
  static constexpr size_t kCapacity = 512 << 10;
  static constexpr size_t kRedZone = 256;
  static constexpr size_t kLargestShared = 227 << 10;  // of sm_90, in bytes


  struct Free {
    void operator()(void* memory) const { free(memory); }
  };

  std::unique_ptr<char, Free> memory_;
  std::unique_ptr<Cell, Free> cells_;  // pages that are never touched cost nothing
  size_t used_ = 0;
  size_t cells_used_ = 0;
  size_t dynamic_bytes_ = 0;
  size_t variable_bytes_ = 0;
  std::vector<SharedVariable> variables_;
};

}  // namespace emulator
