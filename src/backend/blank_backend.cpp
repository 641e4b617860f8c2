#include "backend/blank_backend.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "backend/kept_work.h"
#include "base/error.h"

namespace acgan {
namespace {

// Finds zeros wherever it reads, at once.
class BlankReadback final : public Readback {
 public:
  explicit BlankReadback(std::size_t bytes) : bytes_(bytes) {}

  void start() override {}
  bool is_ready() const override { return true; }
  void wait() override {}
  std::span<const std::byte> bytes() const override { return bytes_; }
  double milliseconds_since(const Readback&) const override { return 0; }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace

BlankBackend::~BlankBackend() {
  for (const auto& [memory, bytes] : sizes_) munmap(memory, bytes);
}

void* BlankBackend::allocate(std::size_t bytes) {
  const std::size_t reserved = std::max<std::size_t>(bytes, 1);
  void* const memory =
      mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    fail(ErrorKind::Device, "no {} MiB of addresses are free; use a smaller batch or model",
         bytes >> 20);
  }
  sizes_[memory] = reserved;
  return memory;
}

void BlankBackend::release(void* memory) noexcept {
  const auto found = sizes_.find(memory);
  if (found == sizes_.end()) return;
  munmap(memory, found->second);
  sizes_.erase(found);
}

void BlankBackend::download(void* host, const Tensor& source) {
  std::memset(host, 0, source.bytes());
}

std::unique_ptr<CapturedWork> BlankBackend::capture(std::function<void()> work) {
  return std::make_unique<KeptWork>(std::move(work));
}

std::unique_ptr<Readback> BlankBackend::make_readback(std::vector<Tensor> sources) {
  std::size_t bytes = 0;
  for (const Tensor& source : sources) bytes += source.bytes();
  return std::make_unique<BlankReadback>(bytes);
}

}  // namespace acgan
