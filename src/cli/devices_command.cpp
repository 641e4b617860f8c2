#include "cli/devices_command.h"

#include "backend/open_backend.h"
#include "base/check.h"

namespace acgan {

std::string list_devices() {
  std::string list;
  for (const char* device : {"cpu", "cuda"}) {
    try {
      list += fmt::format("{:<5} {}\n", device, open_backend(device, 0)->description());
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Device) throw;
      list += fmt::format("{:<5} not available: {}\n", device, error.what());
    }
  }
  return list;
}

}  // namespace acgan
