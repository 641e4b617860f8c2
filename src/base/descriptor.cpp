#include "base/descriptor.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace acgan {

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

int Descriptor::close() {
  const int result = ::close(number_) == 0 ? 0 : errno;
  number_ = -1;
  return result;
}

int Descriptor::write_all(std::span<const std::byte> piece) const {
  // Linux writes at most 2^31-4096 bytes a call.
  constexpr std::size_t kMostBytes = std::size_t{1} << 30;
  while (!piece.empty()) {
    const ssize_t written = ::write(number_, piece.data(), std::min(piece.size(), kMostBytes));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    piece = piece.subspan(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace acgan
