#include <catch2/catch.hpp>

#include "base/error.h"
#include "train/train_setup.h"

namespace acgan {
namespace {

using Lines = std::vector<std::string>;

Lines notes(const std::string& device, DType compute, const AcganShape& shape,
            ConvLibrary conv = ConvLibrary::Handwritten) {
  const auto backend = open_backend({.device = device, .conv = conv}).backend;
  return convolution_notes(Acgan(*backend, shape, compute), *backend);
}

AcganShape widths(std::int64_t channels, std::int64_t conv1, std::int64_t conv2) {
  AcganShape shape{.image_size = 12, .channels = channels, .classes = 3, .widths = {}};
  shape.widths.dense_width = 16;
  shape.widths.conv1_width = conv1;
  shape.widths.conv2_width = conv2;
  return shape;
}

}  // namespace

TEST_CASE("layers that tensor cores do not take straight are named with the reason") {
  CHECK(notes("emulated", DType::F16, widths(1, 64, 128)) ==
        Lines{"deconv4, conv1: 1 channel, not a multiple of eight: read one by one, written by a "
              "kernel for few channels"});
  CHECK(notes("emulated:75", DType::F16, widths(3, 16, 8)) ==
        Lines{"deconv4, conv1: 3 channels, not a multiple of eight: read one by one, written by a "
              "kernel for few channels"});
  CHECK(notes("emulated", DType::BF16, widths(1, 12, 16)) ==
        Lines{"deconv3, conv2: 12 channels, not a multiple of eight: read and written one by one",
              "deconv4, conv1: 1 and 12 channels, not multiples of eight: read and written one by "
              "one"});
  CHECK(notes("emulated:60", DType::F16, widths(1, 16, 16)) ==
        Lines{"deconv3, deconv4, conv1, conv2: no tensor cores for fp16 on compute capability 6.0: "
              "CUDA cores compute"});
  CHECK(notes("emulated:75", DType::BF16, widths(1, 16, 16)) ==
        Lines{"deconv3, deconv4, conv1, conv2: no tensor cores for bf16 on compute capability "
              "7.5: CUDA cores compute"});
}

TEST_CASE("of residual networks only those layers are named that see the image's channels") {
  AcganShape shape{.image_size = 16, .channels = 3, .classes = 3, .widths = {}};
  shape.widths.preset = ModelPreset::Resnet32;
  shape.widths.generator_width = 16;
  shape.widths.discriminator_width = 8;
  CHECK(notes("emulated", DType::F16, shape) ==
        Lines{"conv5: 3 channels, not a multiple of eight: read and written one by one",
              "block1.conv1, block1.shortcut: 3 channels, not a multiple of eight: read one by "
              "one, written by a kernel for few channels"});
}

TEST_CASE("there is nothing to say where a device has one way only") {
  CHECK(notes("emulated", DType::F32, widths(1, 12, 16)).empty());
  CHECK(notes("emulated", DType::F16, widths(1, 12, 16), ConvLibrary::Cudnn).empty());
  CHECK(notes("cpu", DType::F16, widths(1, 12, 16)).empty());
}

TEST_CASE("the description says who computes convolutions") {
  const auto description = [](ConvLibrary conv, bool allow_tf32) {
    return open_backend({.device = "emulated", .conv = conv, .allow_tf32 = allow_tf32})
        .backend->description();
  };
  CHECK_THAT(description(ConvLibrary::Handwritten, false),
             Catch::Contains("; convolutions by our own kernels; ") && !Catch::Contains("TF32"));
  CHECK_THAT(description(ConvLibrary::Cudnn, true),
             Catch::Contains("; convolutions by loops in place of cuDNN; ") &&
                 Catch::EndsWith("; TF32 allowed"));
  CHECK_THAT(description(ConvLibrary::Auto, false),
             Catch::Contains("; convolutions by loops in place of cuDNN in fp32, by our own "
                             "kernels in 16 bits; "));
}

TEST_CASE("learning rates that end before the run are warned of") {
  Config config;
  config.train.steps = 100;
  config.optimizer.schedule = RateDecay::Linear;
  CHECK(rate_end_note(config, 0).empty());  // they end with it
  config.optimizer.decay_steps = 10;
  CHECK_THAT(rate_end_note(config, 0), Catch::Contains("are 0 from step 10 on"));
  config.optimizer.decay_to = 0.1;
  CHECK(rate_end_note(config, 0).empty());
  config.optimizer.decay_to = 0;
  config.train.steps = 0;  // who knows how far it comes
  CHECK(rate_end_note(config, 9).empty());
  CHECK_FALSE(rate_end_note(config, 10).empty());
  config.optimizer.schedule = RateDecay::Constant;
  CHECK(rate_end_note(config, 10).empty());
}

TEST_CASE("settings of a GPU reach it, and cuDNN is not loaded where nothing needs it") {
  Config config;
  CHECK(backend_request(config).conv == ConvLibrary::Auto);
  CHECK_FALSE(backend_request(config).allow_tf32);
  config.precision.mode = PrecisionMode::Mixed;
  CHECK(backend_request(config).conv == ConvLibrary::Handwritten);
  config.train.conv = ConvKernels::Cudnn;
  config.train.allow_tf32 = true;
  CHECK(backend_request(config).conv == ConvLibrary::Cudnn);
  CHECK(backend_request(config).allow_tf32);
  config.train.conv = ConvKernels::Handwritten;
  config.precision.mode = PrecisionMode::Fp32;
  CHECK(backend_request(config).conv == ConvLibrary::Handwritten);
}

TEST_CASE("a device that was named refuses settings of another kind") {
  Log log(Verbosity::Quiet);
  Config config;
  config.train.device = "host";
  check_gpu_settings(config, open_backend(backend_request(config)), log);
  config.train.conv = ConvKernels::Cudnn;
  CHECK_THROWS_WITH(check_gpu_settings(config, open_backend(backend_request(config)), log),
                    "only a GPU knows train.conv: cudnn, and device 'host' is none: leave that "
                    "out, or use --device cuda");
  config.train.device = "emulated";
  check_gpu_settings(config, open_backend(backend_request(config)), log);
}

}  // namespace acgan
