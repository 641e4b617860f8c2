#pragma once

#include <string>
#include <vector>

namespace acgan::cuda {

struct FoundDevice {
  std::string name;
  int arch = 0;  // compute capability, major * 10 + minor
  std::size_t memory_bytes = 0;
  int multiprocessors = 0;
};

// What the CUDA runtime sees, or one sentence why it sees nothing: no driver, a driver too old and
// no GPU are told apart. Needs no driver to run.
struct Probe {
  std::vector<FoundDevice> devices;
  std::string why_none;
};
Probe probe_devices();

// One line for each device: name, compute capability, memory, and what mixed precision can gain
// there; or one line that says why there is none.
std::string list_devices();

// What the tensor cores of this compute capability do for 16-bit types.
std::string tensor_core_text(int arch);

}  // namespace acgan::cuda
