#pragma once

namespace acgan::emulation {

// Saves the running function's callee-saved registers on its stack and the stack's pointer in
// `*save`, and goes on where `load` was saved.
void switch_stack(void** save, void* load);

// A stack pointer that switch_stack() can load: the first switch to it calls `start`, which must
// not return. `top` is the high end of the stack, in multiples of 16 bytes.
void* fresh_stack(char* top, void (*start)());

}  // namespace acgan::emulation
