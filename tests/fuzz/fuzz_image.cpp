
#include "base/error.h"
#include "data/image.h"
#include "data/picture_files.h"
#include "fuzz/fuzz_target.h"

namespace acgan::fuzz {

// Check sums are put right as well: a fuzzer does not guess them, and behind them lies the decoder.
void read_input(const Input& input) {
  constexpr std::int64_t kMostPixels = 1 << 18;  // larger claims cost time and find nothing more
  constexpr std::int64_t kSide = 8;
  const Bytes bytes(input.bytes.begin(), input.bytes.end());
  for (const Bytes& tried : {bytes, test::with_checksums(bytes)}) {
    for (const std::int64_t channels : {1, 3}) {
      try {
        const Image image = decode_image(tried, input.path, channels, kMostPixels);
        Bytes pixels(static_cast<std::size_t>(kSide * kSide * channels));
        resample_square(image, PixelScale::Srgb, kSide, pixels);
      } catch (const Error& error) {
        ACGAN_CHECK(error.kind() == ErrorKind::Data);
      }
    }
  }
}

std::vector<Bytes> valid_inputs() {
  test::Picture picture = test::plain(9, 7, {200, 100, 30});
  for (std::size_t i = 0; i < picture.pixels.size(); i += 5) picture.pixels[i] ^= 0x3C;
  return {test::png(picture),
          test::png(test::plain(5, 5, {200, 90})),
          test::png(test::plain(5, 5, {1, 2, 3, 100})),
          test::png_16_bit({1, 2, 60000}),
          test::png_palette({1, 2, 3, 40, 50, 60}, {0, 1, 1}),
          test::jpeg(picture),
          test::bmp(picture)};
}

}  // namespace acgan::fuzz
