// What went wrong, in words.
#pragma once
#include <stdint.h>
#include <string>

namespace emulator {

// An instruction of the kernel; Python turns the offset into a line of the kernel text.
std::string place_of(uint32_t code_offset);
uint32_t code_offset(const void* return_address);

// Reports once per key, and lets the kernel go on.
void report(const std::string& key, const std::string& message);
// Reports, and ends the launch: the calling thread never continues.
void report_and_stop(const std::string& message);

}  // namespace emulator
