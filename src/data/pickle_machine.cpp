#include "data/pickle_machine.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "base/format.h"
#include "data/pickle_code.h"
#include "data/pickle_text.h"

namespace acgan {
namespace {

using Kind = PickleValue::Kind;

constexpr std::size_t kMostMarks = 64;  // containers within containers; CIFAR has three
constexpr std::size_t kMostStack = std::size_t{1} << 20;
constexpr std::uint64_t kMostMemo = std::uint64_t{1} << 21;
constexpr std::size_t kMostItems = std::size_t{1} << 22;  // of one container
constexpr std::size_t kMostLine = std::size_t{1} << 10;   // of a number, a name, a memo's slot
constexpr PickleId kNoValue = ~PickleId{0};

}  // namespace

PickleId PickleMachine::run() {
  try {
    while (step()) {
      if (stack_.size() > kMostStack) throw PickleFault{"it holds too many values at once"};
    }
    const PickleId result = pop();
    if (!stack_.empty()) throw PickleFault{"it ends within a container"};
    if (position_ != bytes_.size()) throw PickleFault{"something follows its end"};
    return result;
  } catch (const std::length_error& error) {
    throw PickleFault{error.what()};
  }
}

bool PickleMachine::step() {
  operation_ = position_;
  const std::uint8_t code = take(1)[0];
  switch (code) {
    case PickleCode::kStop:
      return false;
    case PickleCode::kProto:
      if (take(1)[0] > 4) throw PickleFault{"it is of a newer protocol than 4"};
      return true;
    case PickleCode::kFrame:
      take_number(8);
      return true;
    case PickleCode::kMark:
      if (marks_.size() == kMostMarks) throw PickleFault{"it is nested too deeply"};
      marks_.push_back(stack_.size());
      return true;
    default:
      break;
  }
  const bool is_known = read_constant(code) || read_text(code) || build_sequence(code) ||
                        fill_container(code) || use_memo(code) || use_object(code);
  if (!is_known) {
    position_ = operation_;
    throw PickleFault{fmt::format("the operation 0x{:02x} is none that such files need", code)};
  }
  return true;
}

bool PickleMachine::read_constant(std::uint8_t code) {
  switch (code) {
    case PickleCode::kNone:
      push_value({.kind = Kind::None, .bytes = {}, .items = {}});
      return true;
    case PickleCode::kNewTrue:
    case PickleCode::kNewFalse:
      push_bool(code == PickleCode::kNewTrue);
      return true;
    case PickleCode::kBinInt:
      push_integer(static_cast<std::int32_t>(take_number(4)));
      return true;
    case PickleCode::kBinInt1:
      push_integer(static_cast<std::int64_t>(take_number(1)));
      return true;
    case PickleCode::kBinInt2:
      push_integer(static_cast<std::int64_t>(take_number(2)));
      return true;
    case PickleCode::kLong1: {
      const std::size_t count = take(1)[0];
      if (count > 8) throw PickleFault{"a number has more than 64 bits"};
      const std::uint64_t number = take_number(count);
      const std::uint64_t sign = count == 0 || count == 8 ? 0 : number >> (8 * count - 1) & 1;
      push_integer(static_cast<std::int64_t>(number - (sign << (8 * (count % 8)))));
      return true;
    }
    case PickleCode::kInt:
    case PickleCode::kLong:
      push_decimal(take_line());
      return true;
    default:
      return false;
  }
}

bool PickleMachine::read_text(std::uint8_t code) {
  switch (code) {
    case PickleCode::kString:
      push_owned_text(from_python_literal(take_line()));
      return true;
    case PickleCode::kUnicode:
      push_owned_text(from_raw_unicode_escape(take_line()));
      return true;
    case PickleCode::kShortBinString:
    case PickleCode::kShortBinUnicode:
    case PickleCode::kShortBinBytes:
      push_text(take(take_number(1)));
      return true;
    case PickleCode::kBinString:
    case PickleCode::kBinUnicode:
    case PickleCode::kBinBytes:
      push_text(take(take_number(4)));
      return true;
    case PickleCode::kBinBytes8:
      push_text(take(take_number(8)));
      return true;
    default:
      return false;
  }
}

bool PickleMachine::build_sequence(std::uint8_t code) {
  switch (code) {
    case PickleCode::kEmptyList:
      push_sequence(Kind::List, {});
      return true;
    case PickleCode::kEmptyTuple:
      push_sequence(Kind::Tuple, {});
      return true;
    case PickleCode::kEmptyDict:
      push_sequence(Kind::Dict, {});
      return true;
    case PickleCode::kTuple1:
    case PickleCode::kTuple2:
    case PickleCode::kTuple3:
      push_sequence(Kind::Tuple, pop_items(code - PickleCode::kTuple1 + std::size_t{1}));
      return true;
    case PickleCode::kTuple:
      push_sequence(Kind::Tuple, pop_to_mark());
      return true;
    case PickleCode::kList:
      push_sequence(Kind::List, pop_to_mark());
      return true;
    case PickleCode::kDict: {
      std::vector<PickleId> items = pop_to_mark();
      if (items.size() % 2 != 0) throw PickleFault{"a dictionary has a key without a value"};
      push_sequence(Kind::Dict, std::move(items));
      return true;
    }
    default:
      return false;
  }
}

bool PickleMachine::fill_container(std::uint8_t code) {
  if (code != PickleCode::kAppend && code != PickleCode::kAppends && code != PickleCode::kSetItem &&
      code != PickleCode::kSetItems)
    return false;
  const Kind kind =
      code == PickleCode::kAppend || code == PickleCode::kAppends ? Kind::List : Kind::Dict;
  const std::vector<PickleId> items = code == PickleCode::kAppend    ? pop_items(1)
                                      : code == PickleCode::kSetItem ? pop_items(2)
                                                                     : pop_to_mark();
  if (kind == Kind::Dict && items.size() % 2 != 0) {
    throw PickleFault{"a dictionary has a key without a value"};
  }
  append_to(top(), kind, items);
  return true;
}

bool PickleMachine::use_memo(std::uint8_t code) {
  switch (code) {
    case PickleCode::kPut:
      put(slot_in_line());
      return true;
    case PickleCode::kBinPut:
      put(take_number(1));
      return true;
    case PickleCode::kLongBinPut:
      put(take_number(4));
      return true;
    case PickleCode::kMemoize:
      put(memo_.size());
      return true;
    case PickleCode::kGet:
      get(slot_in_line());
      return true;
    case PickleCode::kBinGet:
      get(take_number(1));
      return true;
    case PickleCode::kLongBinGet:
      get(take_number(4));
      return true;
    default:
      return false;
  }
}

bool PickleMachine::use_object(std::uint8_t code) {
  switch (code) {
    case PickleCode::kGlobal: {
      const std::string_view module = take_line();
      push_value(pickle_object(module, take_line()));
      return true;
    }
    case PickleCode::kStackGlobal: {
      const std::vector<PickleId> names = pop_items(2);
      const PickleValue &module = heap_[names[0]], &name = heap_[names[1]];
      if (!module.is(Kind::Text) || !name.is(Kind::Text)) {
        throw PickleFault{"an object is not named by texts"};
      }
      push_value(pickle_object(module.text(), name.text()));
      return true;
    }
    case PickleCode::kReduce: {
      const std::vector<PickleId> call = pop_items(2);
      push(reduce_pickle(heap_, call[0], call[1]));
      return true;
    }
    case PickleCode::kBuild: {
      const PickleId state = pop();
      build_pickle(heap_, top(), state);
      return true;
    }
    default:
      return false;
  }
}

std::span<const std::uint8_t> PickleMachine::take(std::uint64_t count) {
  const std::size_t left = bytes_.size() - position_;
  if (count > left) {
    throw PickleFault{fmt::format("{} more bytes were expected and {} are there", count, left)};
  }
  const auto taken = bytes_.subspan(position_, static_cast<std::size_t>(count));
  position_ += taken.size();
  return taken;
}

std::string_view PickleMachine::take_line() {
  const auto rest = bytes_.subspan(position_);
  const auto end = std::find(rest.begin(), rest.end(), std::uint8_t{'\n'});
  if (end == rest.end()) throw PickleFault{"a line has no end"};
  const auto length = static_cast<std::size_t>(end - rest.begin());
  position_ += length + 1;
  return {reinterpret_cast<const char*>(rest.data()), length};
}

std::uint64_t PickleMachine::take_number(std::size_t byte_count) {
  const std::span<const std::uint8_t> taken = take(byte_count);
  std::uint64_t number = 0;
  for (std::size_t i = byte_count; i-- > 0;) number = number << 8 | taken[i];
  return number;
}

void PickleMachine::push_integer(std::int64_t number) {
  push_value({.kind = Kind::Integer, .number = number, .bytes = {}, .items = {}});
}

void PickleMachine::push_bool(bool value) {
  push_value({.kind = Kind::Bool, .number = value ? 1 : 0, .bytes = {}, .items = {}});
}

void PickleMachine::push_text(std::span<const std::uint8_t> bytes) {
  push_value({.kind = Kind::Text, .bytes = bytes, .items = {}});
}

void PickleMachine::push_owned_text(std::optional<std::vector<std::uint8_t>> bytes) {
  if (!bytes) throw PickleFault{"a text is malformed"};
  push_text(heap_.keep(std::move(*bytes)));
}

// "00" and "01" are how protocols 0 and 1 write false and true; Python 2 ends a long with an L.
void PickleMachine::push_decimal(std::string_view digits) {
  if (digits == "00" || digits == "01") return push_bool(digits == "01");
  if (digits.ends_with('L')) digits.remove_suffix(1);
  std::int64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc{} || stop != end || digits.size() > kMostLine) {
    throw PickleFault{"a number is malformed or has more than 64 bits"};
  }
  push_integer(number);
}

void PickleMachine::push_sequence(PickleValue::Kind kind, std::vector<PickleId> items) {
  push_value({.kind = kind, .bytes = {}, .items = std::move(items)});
}

PickleId PickleMachine::pop() {
  const PickleId id = top();
  stack_.pop_back();
  return id;
}

PickleId PickleMachine::top() const {
  const std::size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() <= floor) throw PickleFault{"a value is missing"};
  return stack_.back();
}

std::vector<PickleId> PickleMachine::pop_to_mark() {
  if (marks_.empty()) throw PickleFault{"a mark is missing"};
  const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<PickleId> items(begin, stack_.end());
  stack_.erase(begin, stack_.end());
  marks_.pop_back();
  return items;
}

std::vector<PickleId> PickleMachine::pop_items(std::size_t count) {
  std::vector<PickleId> items(count);
  for (std::size_t i = count; i-- > 0;) items[i] = pop();
  return items;
}

void PickleMachine::append_to(PickleId container, PickleValue::Kind kind,
                              const std::vector<PickleId>& items) {
  PickleValue& value = heap_[container];
  if (!value.is(kind)) throw PickleFault{"something is put into what is no such container"};
  if (items.size() > kMostItems - std::min(kMostItems, value.items.size())) {
    throw PickleFault{"a container has more than 2^22 entries"};
  }
  value.items.insert(value.items.end(), items.begin(), items.end());
}

void PickleMachine::put(std::uint64_t slot) {
  if (slot >= kMostMemo) throw PickleFault{"its memo has a slot beyond 2^21"};
  if (slot >= memo_.size()) memo_.resize(static_cast<std::size_t>(slot) + 1, kNoValue);
  memo_[static_cast<std::size_t>(slot)] = top();
}

void PickleMachine::get(std::uint64_t slot) {
  if (slot >= memo_.size() || memo_[static_cast<std::size_t>(slot)] == kNoValue) {
    throw PickleFault{"it refers to a value that was not kept"};
  }
  push(memo_[static_cast<std::size_t>(slot)]);
}

std::uint64_t PickleMachine::slot_in_line() {
  const std::string_view line = take_line();
  std::uint64_t slot = 0;
  const char* const end = line.data() + line.size();
  const auto [stop, error] = std::from_chars(line.data(), end, slot);
  if (error != std::errc{} || stop != end) throw PickleFault{"a memo's slot is no number"};
  return slot;
}

}  // namespace acgan
