#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "run/sample_grid.h"

namespace acgan {

// An animated WebP without loss that plays again and again: pictures of one size, one after the
// other. Holds what is encoded so far and a few pictures of that size.
class Animation {
 public:
  static constexpr std::int64_t kLongestSide = 16383;  // of the format

  // Throws Error{Output} where the format cannot hold such pictures.
  Animation(std::int64_t height, std::int64_t width);
  ~Animation();
  Animation(const Animation&) = delete;
  Animation& operator=(const Animation&) = delete;

  // Shows `picture`, of that size, for so long. Throws Error{Output} where it cannot be encoded.
  void add(const Picture& picture, int milliseconds);
  // The file's content; after this nothing can be added. Throws Error{Output}.
  std::string finish();

 private:
  struct Encoder;
  std::unique_ptr<Encoder> encoder_;
  std::int64_t height_, width_;
  int shown_ms_ = 0;  // until the next picture
};

}  // namespace acgan
