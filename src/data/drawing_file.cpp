#include "data/drawing_file.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <span>

#include "base/error.h"
#include "data/binary_drawing.h"
#include "data/class_selection.h"
#include "data/ndjson_drawing.h"
#include "data/record_window.h"
#include "data/simplify_drawing.h"
#include "data/stroke_raster.h"

namespace acgan {
namespace {

// Of each batch, so that a file is never held as a whole: enough to keep all threads busy.
constexpr std::int64_t kBatchDrawings = 2048;
constexpr std::int64_t kBatchPixels = std::int64_t{32} << 20;
constexpr std::uint64_t kBatchBytes = std::uint64_t{8} << 20;

// Cuts a file into the records of its drawings.
class RecordReader {
 public:
  RecordReader(const InputFile& file, DrawingFormat format) : window_(file), format_(format) {}

  // The next record's bytes, or none at the file's end; `number` is its line or place.
  bool next(std::vector<std::uint8_t>& bytes, std::uint64_t& number) {
    while (!window_.at_end()) {
      ++number_;
      const std::uint64_t length =
          format_ == DrawingFormat::Ndjson ? line_length() : binary_record_length(window_, number_);
      const auto record = window_.look(length).first(length);
      bytes.assign(record.begin(), record.end());
      window_.skip(length);
      number = number_;
      if (format_ == DrawingFormat::Binary || !is_blank(bytes)) return true;
    }
    return false;
  }

 private:
  static bool is_blank(const std::vector<std::uint8_t>& line) {
    return std::all_of(line.begin(), line.end(), [](std::uint8_t letter) {
      return letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n';
    });
  }

  // With the line's end, which the last line may lack.
  std::uint64_t line_length() {
    std::size_t searched = 0;
    for (;;) {
      const auto held = window_.look(searched + 1);
      const auto end = std::find(held.begin() + static_cast<std::ptrdiff_t>(searched), held.end(),
                                 std::uint8_t{'\n'});
      if (end != held.end()) return static_cast<std::uint64_t>(end - held.begin()) + 1;
      if (searched == held.size()) return held.size();
      searched = held.size();
      if (searched > kMaxRecordBytes) {
        fail(ErrorKind::Data,
             "'{}', line {} is longer than {} bytes: one drawing a line was expected",
             window_.path(), number_, kMaxRecordBytes);
      }
    }
  }

  RecordWindow window_;
  DrawingFormat format_;
  std::uint64_t number_ = 0;
};

// Some drawings of a file: their records, and what becomes of each.
struct Batch {
  struct Slot {
    std::vector<std::uint8_t> bytes;
    std::uint64_t number = 0;
    bool is_wanted = false;
    std::exception_ptr error;
  };
  std::vector<Slot> slots;
  std::size_t count = 0;             // of the slots that are in use
  std::vector<std::uint8_t> images;  // [count,side,side]
};

void fill(Batch& batch, RecordReader& reader, std::int64_t limit) {
  batch.slots.resize(static_cast<std::size_t>(limit));
  std::uint64_t bytes = 0;
  for (batch.count = 0; batch.count < batch.slots.size() && bytes < kBatchBytes; ++batch.count) {
    Batch::Slot& slot = batch.slots[batch.count];
    if (!reader.next(slot.bytes, slot.number)) break;
    bytes += slot.bytes.size();
  }
}

class DrawingFile final : public ClassImages {
 public:
  DrawingFile(const std::string& path, DrawingFormat format) : file_(path), format_(format) {
    if (file_.size() == 0) fail(ErrorKind::Data, "'{}' is empty: it holds no drawings", path);
  }

  std::int64_t channels() const override { return 1; }
  std::int64_t known_count(const ImageRequest&) const override { return 0; }
  bool is_resized(const ImageRequest&) const override { return false; }

  void append_to(std::vector<std::uint8_t>& images, const ImageRequest& request) const override {
    RecordReader reader(file_, format_);
    Batch batch;
    const std::int64_t largest_batch =
        std::min(kBatchDrawings, kBatchPixels / (request.side * request.side));
    std::int64_t count = 0, read = 0;
    while (request.limit == 0 || count < request.limit) {
      fill(batch, reader, limited(largest_batch, request.limit == 0 ? 0 : request.limit - count));
      if (batch.count == 0) break;
      read += static_cast<std::int64_t>(batch.count);
      draw(batch, request);
      count += take(batch, request, images);
    }
    if (count == 0) {
      fail(ErrorKind::Data, "'{}' holds no drawing{}", file_.path(),
           read == 0
               ? ""
               : fmt::format(" that was recognized, of {} (data.only_recognized is true)", read));
    }
  }

 private:
  void draw(Batch& batch, const ImageRequest& request) const {
    const auto pixels = static_cast<std::size_t>(request.side * request.side);
    batch.images.resize(batch.count * pixels);
    const auto count = static_cast<std::int64_t>(batch.count);
#pragma omp parallel
    {
      std::optional<StrokeRaster> raster;
#pragma omp for schedule(dynamic, 16)
      for (std::int64_t i = 0; i < count; ++i) {
        const auto index = static_cast<std::size_t>(i);
        Batch::Slot& slot = batch.slots[index];
        slot.error = nullptr;
        try {  // what is thrown must not leave its thread
          if (!raster) raster.emplace(request.side);
          draw_one(slot, request, *raster, std::span(batch.images).subspan(index * pixels, pixels));
        } catch (...) {
          slot.error = std::current_exception();
        }
      }
    }
  }

  void draw_one(Batch::Slot& slot, const ImageRequest& request, StrokeRaster& raster,
                std::span<std::uint8_t> pixels) const {
    const DrawingRecord record = {.bytes = slot.bytes, .number = slot.number};
    ParsedDrawing parsed = format_ == DrawingFormat::Ndjson
                               ? parse_ndjson_drawing(file_.path(), record)
                               : parse_binary_drawing(file_.path(), record);
    if (request.only_recognized && !parsed.says_recognized) {
      fail(ErrorKind::Data,
           "'{}', line {} has no \"recognized\", which data.only_recognized needs: set that to "
           "false",
           file_.path(), slot.number);
    }
    slot.is_wanted = !request.only_recognized || parsed.is_recognized;
    if (!slot.is_wanted) return;
    if (parsed.drawing.is_raw) {
      if (const auto reason = simplify_drawing(parsed.drawing)) {
        fail(ErrorKind::Data, "'{}', line {} cannot be simplified: {}; remove the line",
             file_.path(), slot.number, *reason);
      }
    }
    raster.draw(parsed.drawing, pixels);
  }

  // Adds what is wanted in the file's order; throws the first error of the batch.
  static std::int64_t take(const Batch& batch, const ImageRequest& request,
                           std::vector<std::uint8_t>& images) {
    const std::int64_t pixels = request.side * request.side;
    std::int64_t count = 0;
    for (std::size_t i = 0; i < batch.count; ++i) {
      if (batch.slots[i].error) std::rethrow_exception(batch.slots[i].error);
      if (!batch.slots[i].is_wanted) continue;
      const auto begin = batch.images.begin() + static_cast<std::ptrdiff_t>(i) * pixels;
      if (request.channels == 1) {
        images.insert(images.end(), begin, begin + pixels);
      } else {
        std::for_each(begin, begin + pixels,
                      [&](std::uint8_t grey) { images.insert(images.end(), 3, grey); });
      }
      ++count;
    }
    return count;
  }

  InputFile file_;
  DrawingFormat format_;
};

}  // namespace

std::unique_ptr<ClassImages> open_drawing_file(const std::string& path, DrawingFormat format) {
  return std::make_unique<DrawingFile>(path, format);
}

}  // namespace acgan
