#include <stdlib.h>  // setenv

#include <catch2/catch.hpp>
#include <filesystem>
#include <limits>

#include "base/error.h"
#include "report/figure.h"
#include "support/temporary_folder.h"

namespace acgan::test {

namespace {

Figure small_figure(const std::string& name) {
  return {.title = name,
          .x_label = "batch size",
          .y_label = "ms",
          .series = {{.name = name,
                      .points = {{32, 10, 9, 12}, {64, 20, 18, 21}, {2048, 700, 690, 710}},
                      .color = 0,
                      .dash = 0},
                     {.name = "other", .points = {{32, 8, 8, 8}}, .color = 9, .dash = 9}}};
}

bool is_png(const std::string& bytes) {
  return bytes.starts_with("\x89PNG\r\n\x1a\n") && bytes.size() > 1000;
}

}  // namespace

TEST_CASE("figures are SVG for both backgrounds, and PNG") {
  const std::string light = draw_svg(small_figure("mixed fp16"), Theme::Light);
  const std::string dark = draw_svg(small_figure("mixed fp16"), Theme::Dark);
  for (const std::string& svg : {light, dark}) {
    CHECK_THAT(svg, Catch::Contains("<svg") && Catch::Contains("</svg>"));
    CHECK_THAT(svg, Catch::Contains("mixed fp16") && Catch::Contains("batch size") &&
                        Catch::Contains("2048") && Catch::Contains("500"));
  }
  CHECK(light != dark);
  CHECK(is_png(draw_png(small_figure("mixed fp16"))));
}

TEST_CASE("a mark is a ring without a line") {
  Figure figure{.title = "Quality",
                .x_label = "minutes",
                .y_label = "distance",
                .series = {{.name = "all", .points = {{1, 9, 9, 9}, {2, 5, 5, 5}, {3, 7, 7, 7}}}},
                .kind = FigureKind::Curve};
  const auto rings = [&] {
    const std::string svg = draw_svg(figure, Theme::Light);
    std::size_t count = 0;
    const std::string ring = "xlink:href='#gpPt5'";  // counted from 0 there
    for (std::size_t at = svg.find(ring); at != std::string::npos; at = svg.find(ring, at + 1)) {
      ++count;
    }
    return count;
  };
  const std::size_t before = rings();
  figure.series.push_back({.name = "best", .points = {{2, 5, 5, 5}}, .color = 1});
  CHECK(rings() == before);
  figure.series.back().is_mark = true;
  CHECK(rings() == before + 2);  // on the curve and in the key
}

TEST_CASE("a figure of one point, or of none at zero, is drawn") {
  Figure figure = small_figure("x");
  figure.series = {{.name = "x", .points = {{64, 5, 5, 5}}, .color = 0, .dash = 0}};
  CHECK_THAT(draw_svg(figure, Theme::Light), Catch::Contains("</svg>"));
  figure.series[0].points = {{64, 0.25, 0, 0.5}};
  CHECK_THAT(draw_svg(figure, Theme::Light), Catch::Contains("</svg>"));
}

TEST_CASE("curves go over an even axis, and leave gaps where there is no number") {
  const double none = std::numeric_limits<double>::quiet_NaN();
  Figure figure{.title = "Losses",
                .x_label = "minutes",
                .y_label = "loss",
                .series = {{.name = "D", .points = {}, .color = 0, .dash = 0}},
                .kind = FigureKind::Curve};
  for (int i = 0; i <= 100; ++i) {
    const double y = i == 50 ? none : 1 + i % 7;
    figure.series[0].points.push_back({.x = 10.0 * i, .y = y, .low = y, .high = y});
  }
  const std::string svg = draw_svg(figure, Theme::Light);
  CHECK_THAT(svg, Catch::Contains("</svg>") && Catch::Contains("> 200<") &&
                      Catch::Contains("> 1000<") && Catch::Contains(">minutes<"));
  figure.series[0].points[50].y = 3;
  CHECK(draw_svg(figure, Theme::Light) != svg);
  figure.kind = FigureKind::LogarithmicCurve;
  figure.series[0].points = {{.x = 0, .y = 0}, {.x = 1, .y = 1024}, {.x = 2, .y = 65536}};
  CHECK_THAT(draw_svg(figure, Theme::Light), Catch::Contains("</svg>"));
  figure.series[0].points.resize(2);  // one value is left
  CHECK_THAT(draw_svg(figure, Theme::Dark), Catch::Contains("</svg>"));
  figure.kind = FigureKind::Curve;
  figure.series[0].points = {{.x = 0, .y = -1}, {.x = 0, .y = -1}};
  CHECK_THAT(draw_png(figure), Catch::StartsWith("\x89PNG"));
}

TEST_CASE("no text of a figure is taken for a command") {
  const TemporaryFolder folder;
  const std::string touched = folder / "touched";
  const std::string attacks[] = {"`touch " + touched + "`",
                                 "'; system(\"touch " + touched + "\"); '",
                                 "\"; system('touch " + touched + "')",
                                 "x'\nsystem 'touch " + touched + "'\n",
                                 "end_of_series\n!touch " + touched,
                                 "@touch",
                                 "a_b^c{d}\\n %s é €"};
  for (const std::string& attack : attacks) {
    CAPTURE(attack);
    CHECK_THAT(draw_svg(small_figure(attack), Theme::Dark), Catch::Contains("</svg>"));
    CHECK_FALSE(std::filesystem::exists(touched));
  }
  CHECK_THAT(draw_svg(small_figure("a_b^c{d} 'q' é"), Theme::Light),
             Catch::Contains("a_b^c{d} \u2019q\u2019 é"));
}

TEST_CASE("without gnuplot it says what to install") {
  const std::string path = getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  CHECK_THROWS_WITH(check_can_draw(), Catch::Contains("apt-get install gnuplot-nox"));
  setenv("PATH", path.c_str(), 1);
  check_can_draw();
}

}  // namespace acgan::test
