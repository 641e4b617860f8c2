#include <stb/stb_image.h>

#include <catch2/catch.hpp>
#include <memory>

#include "base/child_process.h"
#include "bench/bench_samples.h"
#include "bench/report.h"
#include "support/temporary_folder.h"

namespace acgan::test {

namespace {

struct Color {
  int red = 0, green = 0, blue = 0;
};

// What a browser shows of a page, without a network.
class Screenshot {
 public:
  Screenshot(const TemporaryFolder& folder, const std::string& page, bool dark) {
    const std::string file = folder / (dark ? "dark.png" : "light.png");
    std::vector<std::string> command{ACGAN_CHROMIUM,
                                     "--headless",
                                     "--no-sandbox",
                                     "--disable-gpu",
                                     "--hide-scrollbars",
                                     "--host-resolver-rules=MAP * ~NOTFOUND",
                                     "--user-data-dir=" + folder / "profile",
                                     "--window-size=1200,2400",
                                     "--screenshot=" + file};
    if (dark) {
      command.insert(command.end(),
                     {"--force-dark-mode", "--blink-settings=preferredColorScheme=0"});
    }
    command.push_back("file://" + page);
    run_filter(command, "", "");
    int channels = 0;
    pixels_.reset(stbi_load(file.c_str(), &width_, &height_, &channels, 3));
    REQUIRE(pixels_ != nullptr);
  }

  Color corner() const { return at(0); }
  // Pixels of about this colour.
  int count(const Color& wanted) const {
    int count = 0;
    for (int i = 0; i < width_ * height_; ++i) {
      const Color color = at(i);
      const auto is_near = [](int a, int b) { return std::abs(a - b) < 12; };
      count += is_near(color.red, wanted.red) && is_near(color.green, wanted.green) &&
               is_near(color.blue, wanted.blue);
    }
    return count;
  }

 private:
  Color at(int i) const {
    return {pixels_.get()[3 * i], pixels_.get()[3 * i + 1], pixels_.get()[3 * i + 2]};
  }

  struct Free {
    void operator()(stbi_uc* pixels) const { stbi_image_free(pixels); }
  };
  std::unique_ptr<stbi_uc, Free> pixels_;
  int width_ = 0, height_ = 0;
};

}  // namespace

TEST_CASE("a browser shows the report's figures, in light and in dark", "[browser]") {
  const TemporaryFolder folder;
  BenchDocument document{.context = sample_context(),
                         .result = {.rows = {measured_row()}, .ended = "done"},
                         .after = {}};
  document.result.rows.push_back(measured_row());
  document.result.rows[1].batch = 512;
  document.result.rows[1].median_ms = document.result.rows[1].p90_ms = 60;
  write_report(folder / "report", {document});
  const Color light_line{0x00, 0x72, 0xb2}, dark_line{0x56, 0xb4, 0xe9};
  const Screenshot light(folder, folder / "report/report.html", false);
  CHECK(light.corner().red > 250);
  CHECK(light.count(light_line) > 1000);
  CHECK(light.count(dark_line) < 100);
  const Screenshot dark(folder, folder / "report/report.html", true);
  CHECK(dark.corner().red < 50);
  CHECK(dark.count(dark_line) > 1000);
  CHECK(dark.count(light_line) < 100);
}

}  // namespace acgan::test
