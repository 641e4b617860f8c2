#include "fuzz/fuzz_target.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "base/error.h"

namespace acgan::fuzz {
namespace {

class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::uint8_t> bytes)
      : descriptor_(::memfd_create("input", MFD_CLOEXEC)) {
    ACGAN_CHECK(descriptor_ >= 0);
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      ACGAN_CHECK(written > 0);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

 private:
  int descriptor_;
};

void write_valid_inputs(const std::string& folder) {
  int number = 0;
  for (const Bytes& bytes : valid_inputs()) {
    std::ofstream file(fmt::format("{}/valid_{}", folder, number++), std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    ACGAN_CHECK(file.flush().good());
  }
}

}  // namespace
}  // namespace acgan::fuzz

// With ACGAN_WRITE_VALID_INPUTS=FOLDER the program writes valid_inputs() there and ends.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  if (const char* folder = std::getenv("ACGAN_WRITE_VALID_INPUTS")) {
    acgan::fuzz::write_valid_inputs(folder);
    std::exit(0);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(data, size);
  const acgan::fuzz::MemoryFile file(bytes);
  try {
    acgan::fuzz::read_input({.path = file.path(), .bytes = bytes});
  } catch (const acgan::Error& error) {
    ACGAN_CHECK(error.kind() == acgan::ErrorKind::Data);
  }
  return 0;
}
