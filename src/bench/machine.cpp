#include "bench/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <string_view>

#include "train/train_setup.h"

namespace acgan {
namespace {

// The value of the first line of `file` that begins with `key`, without blanks and quotes around.
std::string value_in(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t begin = line.find_first_not_of("\t :=\"", key.size());
    if (begin == std::string::npos) return "";
    return line.substr(begin, line.find_last_not_of(" \t\"") + 1 - begin);
  }
  return "";
}

std::string processor_name() {
  const std::string name = value_in("/proc/cpuinfo", "model name");
  return name.empty() ? "unknown processor" : name;
}

std::string system_name() {
  utsname kernel{};
  if (uname(&kernel) != 0) return "unknown system";
  std::string name = value_in("/etc/os-release", "PRETTY_NAME");
  if (name.empty()) name = kernel.sysname;
  return name + ", kernel " + kernel.release + ", " + kernel.machine;
}

bool is_gpu(const Backend& backend) { return backend.name().starts_with("cuda"); }

}  // namespace

OpenedBackend open_device(Config config, Log& log) {
  config.precision.mode = PrecisionMode::Fp32;
  OpenedBackend opened = open_backend(backend_request(config));
  check_gpu_settings(config, opened, log);
  return opened;
}

std::string device_name(const Backend& backend) {
  if (!is_gpu(backend)) return processor_name();
  const std::string description = backend.description();
  return description.substr(0, description.find(", compute capability"));
}

Machine describe_machine(const Backend& backend) {
  const auto pages = static_cast<double>(sysconf(_SC_PHYS_PAGES));
  const auto page = static_cast<double>(sysconf(_SC_PAGE_SIZE));
  return {.device = device_name(backend),
          .description = backend.description(),
          .processor = processor_name(),
          .processors = sysconf(_SC_NPROCESSORS_ONLN),
          .memory_mib = pages * page / (1024.0 * 1024.0),
          .system = system_name()};
}

}  // namespace acgan
