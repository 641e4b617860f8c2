#include "data/record_window.h"

#include <algorithm>

#include "base/check.h"

namespace acgan {

std::span<const std::uint8_t> RecordWindow::look(std::uint64_t bytes) {
  constexpr std::uint64_t kBlock = std::uint64_t{1} << 20;
  const std::uint64_t held = buffer_.size() - begin_;
  const std::uint64_t rest = file_.size() - offset_;
  if (held < std::min(bytes, rest)) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
    buffer_.resize(std::min(std::max(bytes, held + kBlock), rest));
    file_.read(offset_ + held, std::span(buffer_).subspan(held));
  }
  return std::span(buffer_).subspan(begin_);
}

void RecordWindow::skip(std::uint64_t bytes) {
  ACGAN_CHECK(bytes <= buffer_.size() - begin_);
  begin_ += bytes;
  offset_ += bytes;
}

}  // namespace acgan
