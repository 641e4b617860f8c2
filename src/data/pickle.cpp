#include "data/pickle.h"

#include <utility>

#include "base/error.h"
#include "data/shown_text.h"

namespace acgan {
namespace {

using Kind = PickleValue::Kind;

}  // namespace

Pickle::Pickle(std::vector<std::uint8_t> bytes, std::string path)
    : bytes_(std::move(bytes)), path_(std::move(path)), machine_(bytes_), heap_(machine_.heap()) {
  try {
    root_ = machine_.run();
  } catch (const PickleFault& fault) {
    fail(ErrorKind::Data,
         "'{}' is no pickled batch of CIFAR: at byte {} {}; it is damaged or something else, get "
         "the file again",
         path_, machine_.position(), fault.reason);
  }
  if (!heap_[root_].is(Kind::Dict)) {
    fail(ErrorKind::Data, "'{}' is a pickle, but not of a dictionary, as batches of CIFAR are",
         path_);
  }
}

std::string Pickle::keys() const {
  constexpr std::size_t kMostShown = 10;
  const std::vector<PickleId>& items = heap_[root_].items;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < items.size() && names.size() < kMostShown; i += 2) {
    const PickleValue& key = heap_[items[i]];
    names.push_back(key.is(Kind::Text) ? shown_text(key.text()) : "something else");
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<std::int64_t> Pickle::integers(std::string_view key) const {
  std::vector<std::int64_t> numbers;
  for (const PickleId id : list_of(key, Kind::Integer, "a list of whole numbers")) {
    numbers.push_back(heap_[id].number);
  }
  return numbers;
}

std::vector<std::string> Pickle::texts(std::string_view key) const {
  constexpr std::size_t kMostTexts = 1000;  // class names; a text may be referred to many times
  const std::vector<PickleId>& items = list_of(key, Kind::Text, "a list of texts");
  if (items.size() > kMostTexts) {
    fail(ErrorKind::Data, "'{}' has {} entries under '{}'; at most {} were expected", path_,
         items.size(), key, kMostTexts);
  }
  constexpr std::size_t kLongestText = 1000;
  std::vector<std::string> texts;
  for (const PickleId id : items) {
    texts.emplace_back(heap_[id].text().substr(0, kLongestText));
  }
  return texts;
}

const PickleArray& Pickle::array(std::string_view key) const {
  const PickleValue& value = require(key, Kind::Array, "a NumPy array");
  return heap_.array(static_cast<PickleId>(&value - &heap_[0]));
}

const PickleValue* Pickle::find(std::string_view key) const {
  const std::vector<PickleId>& items = heap_[root_].items;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (heap_[items[i]].is_text(key)) return &heap_[items[i + 1]];
  }
  return nullptr;
}

const PickleValue& Pickle::require(std::string_view key, PickleValue::Kind kind,
                                   std::string_view expected) const {
  const PickleValue* value = find(key);
  if (value == nullptr) {
    fail(ErrorKind::Data, "'{}' has no key '{}' (found: {}): it is no such batch of CIFAR", path_,
         key, keys());
  }
  if (!value->is(kind))
    fail(ErrorKind::Data,
         "'{}' should have {} under '{}': it is no such batch of CIFAR, get it again", path_,
         expected, key);
  return *value;
}

const std::vector<PickleId>& Pickle::list_of(std::string_view key, PickleValue::Kind item_kind,
                                             std::string_view expected) const {
  const std::vector<PickleId>& items = require(key, Kind::List, expected).items;
  for (const PickleId id : items) {
    if (!heap_[id].is(item_kind)) {
      fail(ErrorKind::Data,
           "'{}' should have {} under '{}': it is no such batch of CIFAR, get it again", path_,
           expected, key);
    }
  }
  return items;
}

}  // namespace acgan
