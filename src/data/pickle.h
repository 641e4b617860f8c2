#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/pickle_machine.h"

namespace acgan {

// A Python pickle that is one dictionary with texts as keys, as the python version of CIFAR has
// them. Nothing in it is ever carried out. Throws Error{Data} naming `path`, the byte and the
// reason where it is damaged or holds anything that such files do not need.
class Pickle {
 public:
  Pickle(std::vector<std::uint8_t> bytes, std::string path);
  Pickle(const Pickle&) = delete;  // values point into the bytes
  Pickle& operator=(const Pickle&) = delete;

  bool has(std::string_view key) const { return find(key) != nullptr; }
  std::string keys() const;  // "data, labels", for messages

  // The value of `key`; Error{Data} where it is missing or of another kind.
  std::vector<std::int64_t> integers(std::string_view key) const;
  std::vector<std::string> texts(std::string_view key) const;
  const PickleArray& array(std::string_view key) const;

 private:
  const PickleValue* find(std::string_view key) const;
  const PickleValue& require(std::string_view key, PickleValue::Kind kind,
                             std::string_view expected) const;
  // As above, a list whose items are all of `item_kind`.
  const std::vector<PickleId>& list_of(std::string_view key, PickleValue::Kind item_kind,
                                       std::string_view expected) const;

  std::vector<std::uint8_t> bytes_;
  std::string path_;
  PickleMachine machine_;
  const PickleHeap& heap_;
  PickleId root_ = 0;
};

}  // namespace acgan
