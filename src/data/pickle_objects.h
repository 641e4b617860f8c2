#pragma once

#include <string>

#include "data/pickle_value.h"

namespace acgan {

// The few Python objects that pickles of CIFAR name, and what they make. Nothing is looked up or
// carried out: what is not known by name is refused. All throw PickleFault.

// Why a pickle is not read: the end of a sentence that begins "at byte N".
struct PickleFault {
  std::string reason;
};

// The object `name` of `module`, where it is one of those.
PickleValue pickle_object(std::string_view module, std::string_view name);

// What calling the object `callable` with the tuple `arguments` makes.
PickleId reduce_pickle(PickleHeap& heap, PickleId callable, PickleId arguments);

// Gives `object` (a dtype or an array) its `state`.
void build_pickle(PickleHeap& heap, PickleId object, PickleId state);

}  // namespace acgan
