#include "data/pickle_objects.h"

#include <array>
#include <optional>
#include <utility>

#include "base/format.h"
#include "data/pickle_text.h"
#include "data/shown_text.h"

namespace acgan {
namespace {

using Kind = PickleValue::Kind;

constexpr std::string_view kReconstruct = "_reconstruct";
constexpr std::string_view kArrayType = "ndarray";
constexpr std::string_view kDtype = "dtype";
constexpr std::string_view kEncode = "encode";

struct KnownObject {
  std::string_view module, name;
};
constexpr std::array<KnownObject, 5> kKnownObjects = {{{"numpy.core.multiarray", kReconstruct},
                                                       {"numpy._core.multiarray", kReconstruct},
                                                       {"numpy", kArrayType},
                                                       {"numpy", kDtype},
                                                       {"_codecs", kEncode}}};

bool is_object(const PickleValue& value, std::string_view name) {
  return value.is(Kind::Object) && value.text() == name;
}

// encode(text, 'latin1'): how Python 3 writes bytes for Python 2.
PickleId encode(PickleHeap& heap, const std::vector<PickleId>& arguments) {
  const bool is_latin1 =
      arguments.size() == 2 && heap[arguments[0]].is(Kind::Text) &&
      (heap[arguments[1]].is_text("latin1") || heap[arguments[1]].is_text("latin-1"));
  if (!is_latin1) throw PickleFault{"_codecs.encode is not given a text and 'latin1'"};
  auto bytes = latin1_from_utf8(heap[arguments[0]].bytes);
  if (!bytes) throw PickleFault{"a text is not latin1"};
  return heap.add({.kind = Kind::Text, .bytes = heap.keep(std::move(*bytes)), .items = {}});
}

PickleId make_dtype(PickleHeap& heap, const std::vector<PickleId>& arguments) {
  if (arguments.empty() || !heap[arguments[0]].is(Kind::Text)) {
    throw PickleFault{"a NumPy dtype has no name"};
  }
  return heap.add({.kind = Kind::Dtype, .bytes = heap[arguments[0]].bytes, .items = {}});
}

PickleId make_array(PickleHeap& heap, const std::vector<PickleId>& arguments) {
  if (arguments.size() != 3 || !is_object(heap[arguments[0]], kArrayType)) {
    throw PickleFault{"NumPy's _reconstruct is asked for something else than an array"};
  }
  return heap.add({.kind = Kind::EmptyArray, .bytes = {}, .items = {}});
}

std::optional<std::uint64_t> extent_of(const PickleValue& value) {
  if (!value.is(Kind::Integer) || value.number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(value.number);
}

// The state of an array: version, shape, dtype, whether it is column-major, bytes.
PickleArray array_from(const PickleHeap& heap, const PickleValue& state) {
  const std::vector<PickleId>& items = state.items;
  if (items.size() != 5 || !heap[items[1]].is(Kind::Tuple) || !heap[items[2]].is(Kind::Dtype) ||
      !heap[items[4]].is(Kind::Text)) {
    throw PickleFault{"the state of a NumPy array is malformed"};
  }
  const std::string_view dtype = heap[items[2]].text();
  if (dtype != "u1" && dtype != "|u1" && dtype != "uint8") {
    throw PickleFault{
        fmt::format("a NumPy array has a dtype other than uint8 ('{}')", shown_text(dtype))};
  }
  const std::vector<PickleId>& shape = heap[items[1]].items;
  const auto rows = shape.size() == 2 ? extent_of(heap[shape[0]]) : std::nullopt;
  const auto columns = shape.size() == 2 ? extent_of(heap[shape[1]]) : std::nullopt;
  if (!rows || !columns) throw PickleFault{"a NumPy array has no shape of two numbers"};
  const std::span<const std::uint8_t> data = heap[items[4]].bytes;
  const bool fits =
      *columns == 0 ? data.empty() : *rows == data.size() / *columns && data.size() % *columns == 0;
  if (!fits) {
    throw PickleFault{
        fmt::format("a NumPy array of shape ({}, {}) has {} bytes", *rows, *columns, data.size())};
  }
  return {.rows = *rows,
          .columns = *columns,
          .is_column_major = heap[items[3]].number != 0,
          .data = data};
}

}  // namespace

PickleValue pickle_object(std::string_view module, std::string_view name) {
  for (const KnownObject& known : kKnownObjects) {
    if (module != known.module || name != known.name) continue;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(known.name.data());
    return {.kind = Kind::Object, .bytes = {bytes, known.name.size()}, .items = {}};
  }
  throw PickleFault{fmt::format("it names the Python object {}.{}, which no such file needs",
                                shown_text(module), shown_text(name))};
}

PickleId reduce_pickle(PickleHeap& heap, PickleId callable, PickleId arguments) {
  constexpr std::size_t kMostArguments = 3;
  if (!heap[arguments].is(Kind::Tuple) || heap[arguments].items.size() > kMostArguments) {
    throw PickleFault{"a call has no tuple of up to three arguments"};
  }
  const std::vector<PickleId> items = heap[arguments].items;
  if (is_object(heap[callable], kEncode)) return encode(heap, items);
  if (is_object(heap[callable], kDtype)) return make_dtype(heap, items);
  if (is_object(heap[callable], kReconstruct)) return make_array(heap, items);
  throw PickleFault{"something is called that is no function of such a file"};
}

void build_pickle(PickleHeap& heap, PickleId object, PickleId state) {
  if (!heap[state].is(Kind::Tuple)) throw PickleFault{"an object's state is no tuple"};
  if (heap[object].is(Kind::Dtype)) return;  // byte order and fields, which uint8 has none of
  if (!heap[object].is(Kind::EmptyArray)) {
    throw PickleFault{"state is given to something that takes none"};
  }
  heap.set_array(object, array_from(heap, heap[state]));
}

}  // namespace acgan
