#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace acgan {

// Deals the indices 0..count-1 in a new random order each epoch, every index once an epoch. A batch
// may span two epochs. The order depends on seed and epoch only, so epoch and position are the
// whole state.
class DataLoader {
 public:
  DataLoader(std::int64_t count, std::uint64_t seed);

  std::int64_t count() const { return static_cast<std::int64_t>(order_.size()); }

  // Fills `indices` with the next ones of the stream.
  void next(std::span<std::int32_t> indices);

  struct Position {
    std::uint64_t epoch = 0;
    std::int64_t index = 0;  // how many of this epoch were dealt
  };
  Position position() const { return position_; }
  void seek(const Position& position);  // throws Error{Output} when it is outside the set

 private:
  void shuffle();

  std::uint64_t seed_;
  Position position_;
  std::vector<std::int32_t> order_;
};

}  // namespace acgan
