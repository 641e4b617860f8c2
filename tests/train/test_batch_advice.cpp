#include "base/error.h"
#include "train/batch_advice.h"

#include <catch2/catch.hpp>
#include <map>

#include "backend/host/host_backend.h"
#include "train/sampler.h"

namespace acgan {
namespace {

// Refuses what would take it above so many bytes.
class SmallBackend : public HostBackend {
 public:
  explicit SmallBackend(std::size_t limit) : limit_(limit) {}

  void* allocate(std::size_t bytes) override {
    if (bytes > limit_ - used_) fail(ErrorKind::Device, "out of memory: {} bytes", bytes);
    void* memory = HostBackend::allocate(bytes);
    sizes_[memory] = bytes;
    used_ += bytes;
    return memory;
  }
  void release(void* memory) noexcept override {
    if (const auto size = sizes_.find(memory); size != sizes_.end()) {
      used_ -= size->second;
      sizes_.erase(size);
    }
    HostBackend::release(memory);
  }
  std::size_t used() const { return used_; }

 private:
  std::size_t limit_;
  std::size_t used_ = 0;
  std::map<void*, std::size_t> sizes_;
};

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

// About 1 MiB an image.
TrainStepOptions wide_options(std::int64_t batch) {
  TrainStepOptions options;
  options.shape = {.image_size = 8, .channels = 1, .classes = 2, .widths = {}};
  options.shape.widths = {.latent_dim = 2,
                          .dense_width = 4,
                          .conv1_width = 2048,
                          .conv2_width = 2,
                          .classifier_width = 2};
  options.batch = batch;
  return options;
}

std::string refusal(SmallBackend& backend, std::int64_t batch) {
  try {
    make_train_step(backend, wide_options(batch));
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Device);
    CHECK(backend.used() == 0);
    return error.what();
  }
  FAIL("the step should not fit");
  return {};
}

TEST_CASE("a batch too large for the memory is answered with one that fits") {
  const std::int64_t asked = GENERATE(300, 4096, 65536);
  SmallBackend backend(220 * kMebibyte);
  const std::string message = refusal(backend, asked);
  CHECK_THAT(message, Catch::StartsWith("out of memory: ") && Catch::EndsWith(" fits"));
  const auto batch = fitting_batch(backend, wide_options(asked));
  REQUIRE(batch.has_value());
  CHECK_THAT(message, Catch::Contains(fmt::format("; --batch {} fits", *batch)));
  CHECK(*batch >= 32);
  const TrainStep step = make_train_step(backend, wide_options(*batch));
  CHECK_NOTHROW(Sampler(step.model(), kSampleChunk));
}

TEST_CASE("where not even two images fit the model is too large") {
  SmallBackend backend(kMebibyte);
  CHECK_FALSE(fitting_batch(backend, wide_options(64)).has_value());
  CHECK_THAT(refusal(backend, 64), Catch::Contains("no batch size fits: use a smaller model"));
}

}  // namespace
}  // namespace acgan
