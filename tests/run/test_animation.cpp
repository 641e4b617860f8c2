#include <webp/demux.h>

#include <catch2/catch.hpp>
#include <memory>

#include "base/error.h"
#include "run/animation.h"

namespace acgan::test {

namespace {

Picture filled(std::int64_t height, std::int64_t width, std::int64_t channels, int first) {
  Picture picture{.height = height, .width = width, .channels = channels, .pixels = {}};
  for (std::int64_t i = 0; i < height * width * channels; ++i) {
    picture.pixels.push_back(static_cast<std::uint8_t>(first + 7 * i));
  }
  return picture;
}

struct DecodedFrame {
  std::vector<std::uint8_t> rgb;
  int until_ms = 0;
  bool is_looped = false;  // the whole animation plays for ever
};

// What libwebp's own decoder sees.
std::vector<DecodedFrame> decode(const std::string& file, int height, int width) {
  const WebPData data{reinterpret_cast<const std::uint8_t*>(file.data()), file.size()};
  const std::unique_ptr<WebPAnimDecoder, void (*)(WebPAnimDecoder*)> decoder(
      WebPAnimDecoderNew(&data, nullptr), WebPAnimDecoderDelete);
  REQUIRE(decoder != nullptr);
  WebPAnimInfo info;
  REQUIRE(WebPAnimDecoderGetInfo(decoder.get(), &info) != 0);
  CHECK(static_cast<int>(info.canvas_height) == height);
  CHECK(static_cast<int>(info.canvas_width) == width);
  std::vector<DecodedFrame> frames;
  while (WebPAnimDecoderHasMoreFrames(decoder.get()) != 0) {
    std::uint8_t* rgba = nullptr;
    DecodedFrame frame{.rgb = {}, .until_ms = 0, .is_looped = info.loop_count == 0};
    REQUIRE(WebPAnimDecoderGetNext(decoder.get(), &rgba, &frame.until_ms) != 0);
    for (int i = 0; i < height * width; ++i) {
      frame.rgb.insert(frame.rgb.end(), rgba + 4 * i, rgba + 4 * i + 3);
    }
    frames.push_back(std::move(frame));
  }
  return frames;
}

}  // namespace

TEST_CASE("an animation holds its pictures to the bit, in order and for their times") {
  const Picture first = filled(5, 9, 3, 0), second = filled(5, 9, 3, 100);
  Animation animation(5, 9);
  animation.add(first, 100);
  animation.add(second, 250);
  animation.add(first, 40);
  const auto frames = decode(animation.finish(), 5, 9);
  REQUIRE(frames.size() == 3);
  CHECK(frames[0].rgb == first.pixels);
  CHECK(frames[1].rgb == second.pixels);
  CHECK(frames[2].rgb == first.pixels);
  CHECK(frames[0].is_looped);
  CHECK(frames[0].until_ms == 100);
  CHECK(frames[1].until_ms == 350);
  CHECK(frames[2].until_ms == 390);
}

TEST_CASE("grey pictures stay grey, and one picture alone is an animation") {
  const Picture grey = filled(4, 6, 1, 3);
  Animation animation(4, 6);
  animation.add(grey, 10);
  const std::string file = animation.finish();
  CHECK(file.starts_with("RIFF"));
  const auto frames = decode(file, 4, 6);
  REQUIRE(frames.size() == 1);
  for (std::size_t i = 0; i < grey.pixels.size(); ++i) {
    for (std::size_t c = 0; c < 3; ++c) CHECK(frames[0].rgb[3 * i + c] == grey.pixels[i]);
  }
}

TEST_CASE("what the format cannot hold is refused") {
  CHECK_THROWS_WITH(Animation(1, 16384), Catch::Contains("up to 16383 pixels a side"));
  CHECK_THROWS_AS(Animation(0, 5), Error);
  CHECK_NOTHROW(Animation(1, 16383));
}

}  // namespace acgan::test
