#include "run/animation.h"

#include <webp/encode.h>
#include <webp/mux.h>

#include <vector>

#include "base/check.h"
#include "base/error.h"

namespace acgan {
namespace {

struct EncoderDeleter {
  void operator()(WebPAnimEncoder* encoder) const { WebPAnimEncoderDelete(encoder); }
};

// A picture as the encoder takes it.
class EncoderPicture {
 public:
  explicit EncoderPicture(const Picture& picture) {
    ACGAN_CHECK(WebPPictureInit(&picture_) != 0);
    picture_.use_argb = 1;
    picture_.width = static_cast<int>(picture.width);
    picture_.height = static_cast<int>(picture.height);
    std::vector<std::uint8_t> rgb;
    if (picture.channels == 1) {
      rgb.reserve(3 * picture.pixels.size());
      for (const std::uint8_t value : picture.pixels) rgb.insert(rgb.end(), 3, value);
    }
    const std::uint8_t* const pixels = rgb.empty() ? picture.pixels.data() : rgb.data();
    if (WebPPictureImportRGB(&picture_, pixels, 3 * picture_.width) == 0) {
      fail(ErrorKind::Output, "no memory for a picture of {} by {} pixels in an animation",
           picture.width, picture.height);
    }
  }
  ~EncoderPicture() { WebPPictureFree(&picture_); }
  EncoderPicture(const EncoderPicture&) = delete;
  EncoderPicture& operator=(const EncoderPicture&) = delete;
  WebPPicture* get() { return &picture_; }

 private:
  WebPPicture picture_{};
};

WebPConfig encoder_config() {
  // Of 0 (fast) to 9 (small): beyond this sample grids take several times as long for a few
  // percent.
  constexpr int kEffort = 2;
  WebPConfig config;
  ACGAN_CHECK(WebPConfigInit(&config) != 0);
  ACGAN_CHECK(WebPConfigLosslessPreset(&config, kEffort) != 0);
  return config;
}

}  // namespace

struct Animation::Encoder {
  std::unique_ptr<WebPAnimEncoder, EncoderDeleter> webp;
  WebPConfig config = encoder_config();

  [[noreturn]] void fail_to_encode() const {
    fail(ErrorKind::Output, "cannot encode the animation: {}", WebPAnimEncoderGetError(webp.get()));
  }
};

Animation::Animation(std::int64_t height, std::int64_t width)
    : encoder_(std::make_unique<Encoder>()), height_(height), width_(width) {
  if (height < 1 || width < 1 || height > kLongestSide || width > kLongestSide) {
    fail(ErrorKind::Output,
         "an animation (WebP) holds pictures of up to {} pixels a side, not of {} by {}; take "
         "fewer rows or classes",
         kLongestSide, width, height);
  }
  WebPAnimEncoderOptions options;
  ACGAN_CHECK(WebPAnimEncoderOptionsInit(&options) != 0);
  encoder_->webp.reset(
      WebPAnimEncoderNew(static_cast<int>(width), static_cast<int>(height), &options));
  if (encoder_->webp == nullptr) {
    fail(ErrorKind::Output, "no memory for an animation of {} by {} pixels", width, height);
  }
}

Animation::~Animation() = default;

void Animation::add(const Picture& picture, int milliseconds) {
  ACGAN_CHECK(picture.height == height_ && picture.width == width_ && milliseconds > 0);
  ACGAN_CHECK(picture.channels == 1 || picture.channels == 3);
  EncoderPicture frame(picture);
  if (WebPAnimEncoderAdd(encoder_->webp.get(), frame.get(), shown_ms_, &encoder_->config) == 0) {
    encoder_->fail_to_encode();
  }
  shown_ms_ += milliseconds;
}

std::string Animation::finish() {
  WebPData data;
  WebPDataInit(&data);
  const bool is_done = WebPAnimEncoderAdd(encoder_->webp.get(), nullptr, shown_ms_, nullptr) != 0 &&
                       WebPAnimEncoderAssemble(encoder_->webp.get(), &data) != 0;
  const std::unique_ptr<WebPData, void (*)(WebPData*)> owner(&data, WebPDataClear);
  if (!is_done) encoder_->fail_to_encode();
  return {reinterpret_cast<const char*>(data.bytes), data.size};
}

}  // namespace acgan
