// Switching between the stacks of emulated threads.
#pragma once
#include <stddef.h>

#if !defined(__x86_64__) && !defined(EMULATOR_UCONTEXT)
#define EMULATOR_UCONTEXT
#endif

#ifdef EMULATOR_UCONTEXT
#include <ucontext.h>
#endif

namespace emulator {

struct Context {
#ifdef EMULATOR_UCONTEXT
  ucontext_t state;
#else
  void* stack_pointer;
#endif
};

// Makes `context` enter `start` on the given stack at its first switch; `start` never returns.
void prepare(Context& context, char* stack, size_t bytes, void (*start)());
void switch_context(Context& from, Context& to);

}  // namespace emulator
