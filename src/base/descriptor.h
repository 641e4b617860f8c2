#pragma once

#include <cstddef>
#include <span>

namespace acgan {

// An open file descriptor; closed at the end of its life. Negative: none.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  // Network file systems report a full disk only here. 0, or errno.
  int close();

  // Writes all of `piece`, in as many calls as it takes. 0, or errno.
  int write_all(std::span<const std::byte> piece) const;

 private:
  int number_;
};

}  // namespace acgan
