#include "cuda/emulation/stack_switch.h"

#include <algorithm>

// By hand: ucontext would save the signal mask with a system call at every switch.
extern "C" __attribute__((visibility("hidden"))) void acgan_emulation_switch(void** save,
                                                                             void* load);
#if defined(__x86_64__)
asm(R"(
.text
.globl acgan_emulation_switch
.hidden acgan_emulation_switch
.type acgan_emulation_switch,@function
acgan_emulation_switch:
  push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15
  mov %rsp,(%rdi); mov %rsi,%rsp
  pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp
  pop %rcx
  jmp *%rcx
.size acgan_emulation_switch,.-acgan_emulation_switch
.section .note.GNU-stack,"",@progbits
.text
)");
#elif defined(__aarch64__)
asm(R"(
.text
.globl acgan_emulation_switch
.hidden acgan_emulation_switch
.type acgan_emulation_switch,@function
acgan_emulation_switch:
  sub sp, sp, #160
  stp x19, x20, [sp]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size acgan_emulation_switch,.-acgan_emulation_switch
.text
)");
#else
#error "the emulated device needs a stack switch for this processor"
#endif

namespace acgan::emulation {

void switch_stack(void** save, void* load) { acgan_emulation_switch(save, load); }

void* fresh_stack(char* top, void (*start)()) {
#if defined(__x86_64__)
  constexpr int kSavedRegisters = 6;
  void** frame = reinterpret_cast<void**>(top) - 2;
  frame[0] = reinterpret_cast<void*>(start);
  frame[1] = nullptr;
  return frame - kSavedRegisters;
#else
  constexpr int kSavedRegisters = 20, kLinkRegister = 11;
  void** frame = reinterpret_cast<void**>(top) - kSavedRegisters;
  std::fill(frame, frame + kSavedRegisters, nullptr);
  frame[kLinkRegister] = reinterpret_cast<void*>(start);
  return frame;
#endif
}

}  // namespace acgan::emulation
