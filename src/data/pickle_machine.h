#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "data/pickle_objects.h"
#include "data/pickle_value.h"

namespace acgan {

// Python's pickle machine, cut down to what pickles of dictionaries, lists, numbers, texts and
// NumPy byte arrays are made of (protocols 0 to 2 as Python 2 writes them, 0 to 4 as Python 3
// does). It carries nothing out; everything else is a fault.
class PickleMachine {
 public:
  // `bytes` must outlive the machine and its heap.
  explicit PickleMachine(std::span<const std::uint8_t> bytes)
      : bytes_(bytes), heap_(bytes.size()) {}

  // The value that the pickle is. Throws PickleFault; position() is where it was found then.
  PickleId run();

  std::size_t position() const { return position_; }
  PickleHeap& heap() { return heap_; }

 private:
  // One operation; false at the end. Each of the others carries one out if it is of its kind.
  bool step();
  bool read_constant(std::uint8_t code);
  bool read_text(std::uint8_t code);
  bool build_sequence(std::uint8_t code);
  bool fill_container(std::uint8_t code);
  bool use_memo(std::uint8_t code);
  bool use_object(std::uint8_t code);

  std::span<const std::uint8_t> take(std::uint64_t count);
  std::string_view take_line();
  std::uint64_t take_number(std::size_t byte_count);  // little endian

  void push(PickleId id) { stack_.push_back(id); }
  void push_value(PickleValue value) { push(heap_.add(std::move(value))); }
  void push_integer(std::int64_t number);
  void push_bool(bool value);
  void push_text(std::span<const std::uint8_t> bytes);
  void push_owned_text(std::optional<std::vector<std::uint8_t>> bytes);
  void push_decimal(std::string_view digits);
  void push_sequence(PickleValue::Kind kind, std::vector<PickleId> items);

  // All stop at the last mark: what lies below belongs to a container under construction.
  PickleId pop();
  PickleId top() const;
  std::vector<PickleId> pop_to_mark();
  std::vector<PickleId> pop_items(std::size_t count);  // in the order they were pushed
  void append_to(PickleId container, PickleValue::Kind kind, const std::vector<PickleId>& items);

  void put(std::uint64_t slot);
  void get(std::uint64_t slot);
  std::uint64_t slot_in_line();

  std::span<const std::uint8_t> bytes_;
  std::size_t position_ = 0;
  std::size_t operation_ = 0;  // where the current one begins
  PickleHeap heap_;
  std::vector<PickleId> stack_;
  std::vector<std::size_t> marks_;  // heights of the stack
  std::vector<PickleId> memo_;
};

}  // namespace acgan
