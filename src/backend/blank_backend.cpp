#include "backend/blank_backend.h"

#include <cstdint>
#include <cstring>

#include "backend/kept_work.h"

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

void* BlankBackend::allocate(std::size_t bytes) {
  // Addresses that no processor maps: whoever touches them crashes.
  constexpr std::uintptr_t kUnmapped = std::uintptr_t{1} << 62;
  constexpr std::size_t kAlignment = 4096;
  const std::uintptr_t address = kUnmapped + handed_out_;
  handed_out_ += (bytes / kAlignment + 1) * kAlignment;
  return reinterpret_cast<void*>(address);
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
