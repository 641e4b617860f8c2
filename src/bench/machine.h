#pragma once

#include <cstdint>
#include <string>

#include "backend/open_backend.h"
#include "base/log.h"
#include "config/config.h"

namespace acgan {

// What a result was measured on; nothing in it tells whose machine it is.
struct Machine {
  std::string device;       // as device_name()
  std::string description;  // the backend's own line
  std::string processor;
  std::int64_t processors = 0;  // that the system has
  double memory_mib = 0;
  std::string system;  // distribution and kernel
};

// The device that the config names, for steps of every precision. Throws Error{Device}.
OpenedBackend open_device(Config config, Log& log);

Machine describe_machine(const Backend& backend);

// The GPU's name, or the processor's for a backend that computes there.
std::string device_name(const Backend& backend);

}  // namespace acgan
