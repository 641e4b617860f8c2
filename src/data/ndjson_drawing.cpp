#include "data/ndjson_drawing.h"

#include <array>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace acgan {
namespace {

constexpr int kMaxDepth = 16;  // of containers in fields that are not used

// Takes the drawing out of a line while it is parsed. Every function returns whether to go on;
// where it does not, reason() says why.
class DrawingHandler {
 public:
  explicit DrawingHandler(ParsedDrawing& parsed) : parsed_(parsed) {}

  const std::string& reason() const { return reason_; }
  bool has_drawing() const { return has_drawing_; }

  // The names are those that the parser calls.
  bool null() { return value("null"); }
  bool boolean(bool truth) {
    if (depth_ != 1 || field_ != Field::Recognized) return value("true or false");
    parsed_.is_recognized = truth;
    return true;
  }
  bool number_integer(std::int64_t number) { return coordinate(static_cast<double>(number)); }
  bool number_unsigned(std::uint64_t number) { return coordinate(static_cast<double>(number)); }
  bool number_float(double number, const std::string&) { return coordinate(number); }
  bool string(const std::string&) { return value("a text"); }
  bool binary(const std::vector<std::uint8_t>&) { return value("binary data"); }

  bool start_object(std::size_t) {
    if (depth_ > 0 && !value("an object")) return false;
    return enter();
  }
  bool end_object() { return leave(); }
  bool key(const std::string& name) {
    if (depth_ != 1) return true;
    field_ = name == "drawing"      ? Field::Drawing
             : name == "recognized" ? Field::Recognized
                                    : Field::Other;
    if (field_ == Field::Drawing && std::exchange(has_drawing_, true)) {
      return refuse("it has \"drawing\" twice");
    }
    if (field_ == Field::Recognized && std::exchange(parsed_.says_recognized, true)) {
      return refuse("it has \"recognized\" twice");
    }
    return true;
  }

  bool start_array(std::size_t) {
    if (depth_ == 0) return refuse("it is a list where an object was expected");
    if (field_ == Field::Recognized) return value("a list");
    if (!enter() || field_ != Field::Drawing) return reason_.empty();
    if (depth_ == kStrokeDepth) {
      for (auto& axis : axes_) axis.clear();
      axis_count_ = 0;
    } else if (depth_ == kAxisDepth && ++axis_count_ > axes_.size()) {
      return refuse("a stroke has more than three lists");
    } else if (depth_ > kAxisDepth) {
      return refuse("\"drawing\" has a list within a list of coordinates");
    }
    return true;
  }
  bool end_array() {
    const bool is_stroke = field_ == Field::Drawing && depth_ == kStrokeDepth;
    return leave() && (!is_stroke || finish_stroke());
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) {
    return refuse(fmt::format("it is no complete JSON (fault at character {})", position));
  }

 private:
  enum class Field { Other, Drawing, Recognized };
  static constexpr int kStrokeDepth = 3, kAxisDepth = 4;

  bool refuse(std::string reason) {
    reason_ = std::move(reason);
    return false;
  }

  bool enter() {
    if (++depth_ > kMaxDepth) return refuse("it is nested too deep");
    return true;
  }
  bool leave() {
    --depth_;
    return true;
  }

  // What is no coordinate: fine where nothing is read from it.
  bool value(std::string_view what) {
    if (depth_ == 0) return refuse(fmt::format("it is {} where an object was expected", what));
    if (field_ == Field::Drawing) {
      return refuse(fmt::format("\"drawing\" holds {} where lists of numbers were expected", what));
    }
    if (field_ == Field::Recognized && depth_ == 1) {
      return refuse(fmt::format("\"recognized\" is {} where true or false was expected", what));
    }
    return true;
  }

  bool coordinate(double number) {
    if (field_ != Field::Drawing || depth_ != kAxisDepth) return value("a number");
    auto& axis = axes_[axis_count_ - 1];
    if (axis.size() == kMaxDrawingPoints) {
      return refuse(fmt::format("a stroke has more than {} points", kMaxDrawingPoints));
    }
    axis.push_back(number);
    return true;
  }

  bool finish_stroke() {
    const std::size_t number = parsed_.drawing.strokes.size() + 1, points = axes_[0].size();
    if (axis_count_ < 2) {
      return refuse(fmt::format("stroke {} has {} list{} where x and y were expected", number,
                                axis_count_, axis_count_ == 1 ? "" : "s"));
    }
    for (std::size_t i = 1; i < axis_count_; ++i) {
      if (axes_[i].size() == points) continue;
      return refuse(fmt::format("stroke {} has {} values of x and {} of {}", number, points,
                                axes_[i].size(), i == 1 ? "y" : "t"));
    }
    if (points == 0) return refuse(fmt::format("stroke {} has no points", number));
    points_ += points;
    if (points_ > kMaxDrawingPoints) {
      return refuse(fmt::format("it has more than {} points", kMaxDrawingPoints));
    }
    Stroke& stroke = parsed_.drawing.strokes.emplace_back(points);
    for (std::size_t i = 0; i < points; ++i) stroke[i] = {.x = axes_[0][i], .y = axes_[1][i]};
    parsed_.drawing.is_raw |= axis_count_ == axes_.size();
    return true;
  }

  ParsedDrawing& parsed_;
  Field field_ = Field::Other;
  bool has_drawing_ = false;
  int depth_ = 0;
  std::array<std::vector<double>, 3> axes_;  // x, y, t of the stroke that is being read
  std::size_t axis_count_ = 0;
  std::size_t points_ = 0;
  std::string reason_;
};

std::string find_bad_coordinate(const Drawing& drawing) {
  for (const Stroke& stroke : drawing.strokes) {
    for (const Point& point : stroke) {
      const auto is_inside = [](double value) { return value >= 0 && value <= 255; };
      if (is_inside(point.x) && is_inside(point.y)) continue;
      return fmt::format(
          "it has a point at ({}, {}); without times, which raw drawings have as a third list, "
          "coordinates must lie in 0..255",
          point.x, point.y);
    }
  }
  return {};
}

}  // namespace

ParsedDrawing parse_ndjson_drawing(const std::string& path, const DrawingRecord& line) {
  ParsedDrawing parsed;
  DrawingHandler handler(parsed);
  std::string reason;
  if (!nlohmann::json::sax_parse(line.bytes.begin(), line.bytes.end(), &handler)) {
    reason = handler.reason();
  } else if (!handler.has_drawing()) {
    reason = "it has no \"drawing\"";
  } else if (parsed.drawing.strokes.empty()) {
    reason = "its \"drawing\" has no strokes";
  } else if (!parsed.drawing.is_raw) {
    reason = find_bad_coordinate(parsed.drawing);
  }
  if (!reason.empty()) {
    fail(ErrorKind::Data,
         "'{}', line {} is not a drawing of Quick, Draw!: {}; mend or remove the line, or get the "
         "file again",
         path, line.number, reason);
  }
  return parsed;
}

}  // namespace acgan
