#pragma once

#include <cstdint>
#include <vector>

namespace acgan {

// How the images of a class are wanted.
struct ImageRequest {
  std::int64_t side = 0;      // pixels
  std::int64_t channels = 0;  // 1 or 3
  std::int64_t limit = 0;     // at most so many, the first ones; 0: all
  bool only_recognized = false;
};

// The images in one class's file, whatever its format.
class ClassImages {
 public:
  virtual ~ClassImages() = default;

  virtual std::int64_t channels() const = 0;  // that the file has: 1 or 3
  // How many images append_to would add, where that can be told without reading them; else 0.
  virtual std::int64_t known_count(const ImageRequest& request) const = 0;
  virtual bool is_resized(const ImageRequest& request) const = 0;

  // Adds images [side,side,channels] in the file's order. Throws Error{Data} where the file is not
  // what it says.
  virtual void append_to(std::vector<std::uint8_t>& images, const ImageRequest& request) const = 0;
};

}  // namespace acgan
