#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace acgan {

// A NumPy array of bytes [rows, columns] within a pickle.
struct PickleArray {
  std::uint64_t rows = 0, columns = 0;
  bool is_column_major = false;
  std::span<const std::uint8_t> data;  // rows * columns bytes
};

using PickleId = std::uint32_t;  // of a value in its PickleHeap

// What a pickle may hold. Values refer to each other by number, so that no depth of nesting is a
// depth of calls.
struct PickleValue {
  enum class Kind {
    None,
    Bool,
    Integer,
    Text,
    List,
    Tuple,
    Dict,
    Object,
    Dtype,
    EmptyArray,
    Array
  };
  Kind kind = Kind::None;
  std::int64_t number = 0;              // of Bool and Integer; of Array: which one
  std::span<const std::uint8_t> bytes;  // of Text (bytes, or UTF-8), Object (its name) and Dtype
  std::vector<PickleId> items;          // of List, Tuple and Dict (key, value, key, value, ...)

  std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  bool is(Kind other) const { return kind == other; }
  bool is_text(std::string_view other) const { return kind == Kind::Text && text() == other; }
};

// All values of one pickle, limited in number and in the bytes that are not parts of the file.
class PickleHeap {
 public:
  // A protocol 0 text may take two bytes for one as UTF-8 and one more as latin1.
  explicit PickleHeap(std::size_t file_bytes) : most_owned_bytes_(3 * file_bytes + 4096) {}

  // Both throw std::length_error beyond their limit.
  PickleId add(PickleValue value);
  std::span<const std::uint8_t> keep(std::vector<std::uint8_t> bytes);

  PickleValue& operator[](PickleId id) { return values_[id]; }
  const PickleValue& operator[](PickleId id) const { return values_[id]; }
  void set_array(PickleId id, const PickleArray& array);
  const PickleArray& array(PickleId id) const;

 private:
  std::vector<PickleValue> values_;
  std::vector<PickleArray> arrays_;
  std::deque<std::vector<std::uint8_t>> owned_;  // what spans point to stays where it is
  std::size_t owned_bytes_ = 0;
  std::size_t most_owned_bytes_;
};

}  // namespace acgan
