#include "fiber.h"

namespace emulator {

#ifdef EMULATOR_UCONTEXT

void prepare(Context& context, char* stack, size_t bytes, void (*start)()) {
  getcontext(&context.state);
  context.state.uc_stack.ss_sp = stack;
  context.state.uc_stack.ss_size = bytes;
  context.state.uc_link = nullptr;
  makecontext(&context.state, start, 0);
}

void switch_context(Context& from, Context& to) { swapcontext(&from.state, &to.state); }

#else

// ucontext saves the signal mask by a system call each time; this is some forty times faster.
// The System V ABI lets a call destroy every register but these six and the stack pointer.
extern "C" void emulator_switch_stacks(void** saved_stack_pointer, void* new_stack_pointer);
asm(R"(
.text
.type emulator_switch_stacks, @function
emulator_switch_stacks:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
.size emulator_switch_stacks, .-emulator_switch_stacks
)");

void prepare(Context& context, char* stack, size_t bytes, void (*start)()) {
  void** top = reinterpret_cast<void**>(stack + bytes - 64);
  *--top = nullptr;  // keeps the stack aligned as after a call
  *--top = reinterpret_cast<void*>(start);
  for (int saved_register = 0; saved_register < 6; ++saved_register) *--top = nullptr;
  context.stack_pointer = top;
}

void switch_context(Context& from, Context& to) {
  emulator_switch_stacks(&from.stack_pointer, to.stack_pointer);
}

#endif

}  // namespace emulator
