#include "data/binary_drawing.h"

#include "base/error.h"
#include "data/record_window.h"

namespace acgan {
namespace {

constexpr std::size_t kRecognizedOffset = 10;
constexpr std::size_t kStrokesOffset = 15;
constexpr std::size_t kHeaderBytes = 17;

std::size_t read_u16(std::span<const std::uint8_t> bytes, std::size_t offset) {
  return bytes[offset] | static_cast<std::size_t>(bytes[offset + 1]) << 8;
}

[[noreturn]] void fail_record(const std::string& path, std::uint64_t number,
                              const std::string& reason) {
  fail(ErrorKind::Data,
       "'{}', record {} is not a drawing in the binary format of Quick, Draw!: {}; get the file "
       "again",
       path, number, reason);
}

}  // namespace

std::uint64_t binary_record_length(RecordWindow& window, std::uint64_t number) {
  const auto require = [&](std::uint64_t bytes) {
    const auto held = window.look(bytes);
    if (held.size() >= bytes) return held;
    fail(ErrorKind::Data,
         "'{}' is truncated: record {}, which begins at byte {}, needs {} bytes or more, and {} "
         "are left: get the file again",
         window.path(), number, window.offset(), bytes, held.size());
  };
  std::uint64_t length = kHeaderBytes;
  const std::size_t strokes = read_u16(require(length), kStrokesOffset);
  for (std::size_t i = 0; i < strokes; ++i) {
    const std::size_t points = read_u16(require(length + 2), length);
    length += 2 + 2 * points;
    if (length > kMaxRecordBytes) {
      fail_record(window.path(), number, fmt::format("it has more than {} bytes", kMaxRecordBytes));
    }
  }
  require(length);
  return length;
}

ParsedDrawing parse_binary_drawing(const std::string& path, const DrawingRecord& record) {
  const std::span<const std::uint8_t> bytes = record.bytes;
  const int recognized = bytes[kRecognizedOffset];
  if (recognized > 1) {
    fail_record(path, record.number,
                fmt::format("\"recognized\" is {} where 0 or 1 was expected", recognized));
  }
  ParsedDrawing parsed;
  parsed.is_recognized = recognized == 1;
  parsed.says_recognized = true;
  std::size_t offset = kHeaderBytes, all_points = 0;
  while (offset < bytes.size()) {
    const std::size_t points = read_u16(bytes, offset);
    offset += 2;
    all_points += points;
    const std::size_t number = parsed.drawing.strokes.size() + 1;
    if (points == 0)
      fail_record(path, record.number, fmt::format("stroke {} has no points", number));
    if (all_points > kMaxDrawingPoints) {
      fail_record(path, record.number,
                  fmt::format("it has more than {} points", kMaxDrawingPoints));
    }
    Stroke& stroke = parsed.drawing.strokes.emplace_back(points);
    for (std::size_t i = 0; i < points; ++i) {
      stroke[i] = {.x = static_cast<double>(bytes[offset + i]),
                   .y = static_cast<double>(bytes[offset + points + i])};
    }
    offset += 2 * points;
  }
  if (parsed.drawing.strokes.empty()) fail_record(path, record.number, "it has no strokes");
  return parsed;
}

}  // namespace acgan
