#include "data/stroke_raster.h"

#include <cairo/cairo.h>

#include <algorithm>
#include <new>

#include "base/check.h"

namespace acgan {
namespace {

constexpr double kBox = 256;  // units
constexpr double kMargin = 24;
constexpr double kLineWidth = 16;

void check_status(cairo_status_t status) {
  if (status == CAIRO_STATUS_NO_MEMORY) throw std::bad_alloc();
  ACGAN_CHECK(status == CAIRO_STATUS_SUCCESS);
}

// What moves the drawing into the middle of the box. Google's simplified drawings begin at 0 on
// both axes, so only the largest coordinates count.
Point centring_offset(const Drawing& drawing) {
  Point largest = drawing.strokes.front().front();
  for (const Stroke& stroke : drawing.strokes) {
    for (const Point& point : stroke) {
      largest.x = std::max(largest.x, point.x);
      largest.y = std::max(largest.y, point.y);
    }
  }
  return {.x = (kBox - largest.x) / 2, .y = (kBox - largest.y) / 2};
}

}  // namespace

struct StrokeRaster::Canvas {
  explicit Canvas(std::int64_t side)
      : surface(cairo_image_surface_create(CAIRO_FORMAT_A8, static_cast<int>(side),
                                           static_cast<int>(side))),
        context(cairo_create(surface)) {}
  ~Canvas() {
    cairo_destroy(context);
    cairo_surface_destroy(surface);
  }
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

  cairo_surface_t* surface;
  cairo_t* context;
};

StrokeRaster::StrokeRaster(std::int64_t side)
    : side_(side), canvas_(std::make_unique<Canvas>(side)) {
  cairo_t* context = canvas_->context;
  check_status(cairo_status(context));
  cairo_set_antialias(context, CAIRO_ANTIALIAS_BEST);
  cairo_set_line_cap(context, CAIRO_LINE_CAP_ROUND);
  cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND);
  cairo_set_line_width(context, kLineWidth);
  const double scale = static_cast<double>(side) / (kBox + 2 * kMargin);
  cairo_scale(context, scale, scale);
  cairo_translate(context, kMargin, kMargin);
}

StrokeRaster::~StrokeRaster() = default;

void StrokeRaster::draw(const Drawing& drawing, std::span<std::uint8_t> pixels) {
  ACGAN_CHECK(static_cast<std::int64_t>(pixels.size()) == side_ * side_);
  cairo_t* context = canvas_->context;
  cairo_set_operator(context, CAIRO_OPERATOR_CLEAR);
  cairo_paint(context);
  cairo_set_operator(context, CAIRO_OPERATOR_OVER);
  const Point offset = centring_offset(drawing);
  for (const Stroke& stroke : drawing.strokes) {
    // The first point is also the end of a first line: without one, a dot would leave no trace.
    cairo_move_to(context, stroke.front().x + offset.x, stroke.front().y + offset.y);
    for (const Point& point : stroke) {
      cairo_line_to(context, point.x + offset.x, point.y + offset.y);
    }
    cairo_stroke(context);
  }
  check_status(cairo_status(context));
  cairo_surface_flush(canvas_->surface);
  const std::uint8_t* rows = cairo_image_surface_get_data(canvas_->surface);
  const int row_bytes = cairo_image_surface_get_stride(canvas_->surface);
  for (std::int64_t y = 0; y < side_; ++y) {
    std::copy_n(rows + y * row_bytes, side_, pixels.data() + y * side_);
  }
}

}  // namespace acgan
