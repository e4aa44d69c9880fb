// Where emulated memory lies: buffers between wide red zones, and shared memory of blocks.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "errors.h"
#include "machine.h"
#include "shadow.h"

extern "C" const char __ehdr_start[] __attribute__((visibility("hidden")));
extern "C" const char _end[] __attribute__((visibility("hidden")));

namespace emulator {

// ---- buffers -----------------------------------------------------------------------------------

static constexpr size_t kGuardBytes = 1 << 20;  // never touched, so it costs address space only
static constexpr size_t kDynamicAlignment = 16;
static constexpr size_t kAlignment = 256;       // what cudaMalloc promises

struct Buffer {
  Region region;
  void* host = nullptr;
  char* mapping = nullptr;
  size_t mapped_bytes = 0;
};

static std::vector<Buffer> buffers;
static Region* last_found = nullptr;

Region* find_buffer(const char* address) {
  if (last_found != nullptr && last_found->contains(address)) return last_found;
  for (Buffer& buffer : buffers) {
    if (buffer.region.contains(address)) return last_found = &buffer.region;
  }
  return nullptr;
}

bool in_library(const char* address) { return __ehdr_start <= address && address < _end; }

static std::string distance(const Region& region, const char* address) {
  const long bytes = address < region.begin ? region.begin - address : address - region.end;
  return std::to_string(bytes) + " bytes " +
         (address < region.begin ? "before the start of " : "past the end of ") + region.name;
}

std::string describe_stray(const char* address) {
  for (Block& block : machine.blocks) {
    if (!block.shared.contains(address)) continue;
    if (&block != machine.current->block) return "in shared memory of another block";
    return block.shared.describe_stray(address);
  }
  for (const Buffer& buffer : buffers) {
    if (buffer.mapping <= address && address < buffer.mapping + buffer.mapped_bytes) {
      return distance(buffer.region, address);
    }
  }
  if (address < reinterpret_cast<char*>(4096)) return "a null pointer";
  return "far from every buffer";
}

static char* map_memory(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) abort();
  return static_cast<char*>(memory);
}

static int granule_shift_of(size_t item_bytes) {
  if (item_bytes % 4 == 0) return 2;
  return item_bytes % 2 == 0 ? 1 : 0;
}

// ---- shared memory -----------------------------------------------------------------------------

void SharedMemory::start_block(size_t dynamic_bytes) {
  if (!memory_) {
    memory_.reset(static_cast<char*>(aligned_alloc(kAlignment, kCapacity)));
    cells_.reset(static_cast<Cell*>(calloc(kLargestShared, sizeof(Cell))));
  }
  memset(static_cast<void*>(cells_.get()), 0, cells_used_ * sizeof(Cell));
  variables_.clear();
  used_ = kRedZone;
  cells_used_ = 0;
  variable_bytes_ = 0;
  dynamic_bytes_ = dynamic_bytes;
}

Region* SharedMemory::find(const char* address) {
  for (SharedVariable& variable : variables_) {
    if (variable.region.contains(address)) return &variable.region;
  }
  return nullptr;
}

std::string SharedMemory::describe_stray(const char* address) const {
  const SharedVariable* nearest = nullptr;
  for (const SharedVariable& variable : variables_) {
    if (nearest == nullptr || variable.region.begin <= address) nearest = &variable;
  }
  return nearest == nullptr ? "in shared memory" : distance(nearest->region, address);
}

char* SharedMemory::variable(const char* function, int index, const char* name, size_t bytes,
                             size_t alignment, size_t granule) {
  for (SharedVariable& variable : variables_) {
    if (variable.function == function && variable.index == index) return variable.region.begin;
  }
  // Aligned as declared and no better, so that a vector access to an array of scalars is caught.
  const size_t twice = 2 * alignment;
  const size_t start = (used_ + twice - 1) / twice * twice + alignment;
  const size_t granules = (bytes + granule - 1) / granule;
  if (variable_bytes_ + bytes > kLargestShared || start + bytes + kRedZone > kCapacity ||
      cells_used_ + granules > kLargestShared) {
    report_and_stop("shared memory is full: more than " + std::to_string(kLargestShared) +
                    " bytes, or too many variables");
  }
  SharedVariable variable;
  variable.function = function;
  variable.index = index;
  Region& region = variable.region;
  region.name = name;
  region.begin = memory_.get() + start;
  region.end = region.begin + bytes;
  region.item_bytes = granule;
  region.granule_shift = granule_shift_of(granule);
  region.shared = true;
  region.starts_undefined = true;
  region.cells = cells_.get() + cells_used_;
  memset(region.begin, 0xff, bytes);  // NaN, should it be read all the same
  used_ = start + bytes + kRedZone;
  cells_used_ += granules;
  variable_bytes_ += bytes;
  variables_.push_back(variable);
  return variables_.back().region.begin;
}

char* SharedMemory::dynamic(size_t granule) {
  static const char function[] = "";  // one array, whatever functions declare it
  return variable(function, 0, "dynamic shared memory", dynamic_bytes_, kDynamicAlignment, granule);
}

}  // namespace emulator

extern "C" void* emulator_static_shared(const char* function, int index, const char* name,
                                        size_t bytes, size_t alignment, size_t granule) {
  using namespace emulator;
  return machine.current->block->shared.variable(function, index, name, bytes, alignment, granule);
}

extern "C" void* emulator_dynamic_shared(size_t granule) {
  return emulator::machine.current->block->shared.dynamic(granule);
}

// ---- called from Python ------------------------------------------------------------------------

struct EmulatorBuffer {
  const char* name;
  void* host;
  size_t bytes;
  size_t item_bytes;
  size_t misalignment;  // of the address, modulo 256
  int writable;
  int starts_undefined;
};

// Copies a buffer between red zones; returns the address that kernels get.
extern "C" void* emulator_add_buffer(const EmulatorBuffer* spec) {
  using namespace emulator;
  Buffer buffer;
  buffer.host = spec->host;
  buffer.mapped_bytes = spec->bytes + 2 * kGuardBytes + kAlignment;
  buffer.mapping = map_memory(buffer.mapped_bytes);
  Region& region = buffer.region;
  region.name = spec->name;
  region.begin = buffer.mapping + kGuardBytes + spec->misalignment;
  region.end = region.begin + spec->bytes;
  region.item_bytes = spec->item_bytes;
  region.granule_shift = granule_shift_of(spec->item_bytes);
  region.writable = spec->writable != 0;
  region.starts_undefined = spec->starts_undefined != 0;
  if (region.writable) {
    region.cells = reinterpret_cast<Cell*>(map_memory(region.granules() * sizeof(Cell) + 1));
  }
  if (spec->bytes != 0) memcpy(region.begin, spec->host, spec->bytes);
  buffers.push_back(buffer);
  last_found = nullptr;
  return region.begin;
}

// How many elements of the index-th buffer have bytes that were never written.
extern "C" size_t emulator_unwritten(int index) {
  using namespace emulator;
  const Region& region = buffers[index].region;
  const size_t per_item = region.item_bytes >> region.granule_shift;
  size_t unwritten = 0;
  for (size_t first = 0; first + per_item <= region.granules(); first += per_item) {
    bool complete = true;
    for (size_t i = 0; i < per_item; ++i) complete &= region.cells[first + i].write.happened();
    unwritten += !complete;
  }
  return unwritten;
}

// Copies written buffers back, and forgets all buffers.
extern "C" void emulator_release_buffers() {
  using namespace emulator;
  for (Buffer& buffer : buffers) {
    Region& region = buffer.region;
    const size_t bytes = static_cast<size_t>(region.end - region.begin);
    if (region.writable) {
      if (bytes != 0) memcpy(buffer.host, region.begin, bytes);
      munmap(region.cells, region.granules() * sizeof(Cell) + 1);
    }
    munmap(buffer.mapping, buffer.mapped_bytes);
  }
  buffers.clear();
  last_found = nullptr;
  forget_other_readers();
}
