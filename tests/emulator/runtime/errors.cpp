#include "errors.h"
#include <stdio.h>
#include <set>
#include <string>
#include <vector>
#include "machine.h"

// Defined by the linker: where this library is mapped.
extern "C" const char __ehdr_start[] __attribute__((visibility("hidden")));

namespace emulator {

static constexpr size_t kMostErrors = 10;

static std::vector<std::string> errors;
static std::set<std::string> reported_keys;

std::string place_of(uint32_t code_offset) {
  char text[32];
  snprintf(text, sizeof text, "<code %x>", code_offset);
  return text;
}

uint32_t code_offset(const void* return_address) {
  // One byte back is within the call instruction.
  return static_cast<uint32_t>(static_cast<const char*>(return_address) - 1 - __ehdr_start);
}

std::string name_of(EmulatorPlace place) {
  return std::string(place.file) + ":" + std::to_string(place.line);
}

std::string name_of(const Thread& thread) {
  const uint3 block = thread.block->index;
  char text[96];
  snprintf(text, sizeof text, "block (%u, %u, %u) thread (%u, %u, %u)", block.x, block.y, block.z,
           thread.index.x, thread.index.y, thread.index.z);
  return text;
}

void report(const std::string& key, const std::string& message) {
  if (errors.size() >= kMostErrors || !reported_keys.insert(key).second) return;
  const bool in_kernel = machine.current != nullptr;
  errors.push_back(in_kernel ? message + " [" + name_of(*machine.current) + "]" : message);
}

void report_and_stop(const std::string& message) {
  report(message, message);
  machine.stopped = true;
  if (machine.current != nullptr) park(*machine.current);
}

}  // namespace emulator

extern "C" int emulator_error_count() { return static_cast<int>(emulator::errors.size()); }

extern "C" const char* emulator_error(int index) { return emulator::errors[index].c_str(); }

extern "C" void emulator_forget_errors() {
  emulator::errors.clear();
  emulator::reported_keys.clear();
}
