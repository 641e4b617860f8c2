#include <catch2/catch.hpp>
#include <vector>

#include "train/sampler.h"
#include "train/step_harness.h"

namespace acgan {
namespace {

using test::Harness;
using test::small_options;

TEST_CASE("an image is the same alone and in any batch") {
  Harness harness(small_options(GENERATE(DType::F32, DType::F16)));
  harness.run(3);  // running statistics that are not the initial ones
  const Acgan& model = harness.step_.model();
  const std::vector<float> z = sample_latents(4, 9, 6);
  const std::vector<std::int32_t> labels{0, 1, 2, 2, 1, 0, 0, 0, 1};
  const std::vector<float> together = Sampler(model, 9).generate(z, labels);
  CHECK(Sampler(model, 4).generate(z, labels) == together);  // a last chunk that is not full
  Sampler alone(model, 1);
  const std::size_t pixels = together.size() / labels.size();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::vector<float> image =
        alone.generate(std::span(z).subspan(i * 6, 6), std::span(labels).subspan(i, 1));
    CHECK(std::equal(image.begin(), image.end(), &together[i * pixels]));
  }
  CHECK(alone.generate(std::span(z).subspan(0, 6), std::span(labels).subspan(1, 1)) !=
        alone.generate(std::span(z).subspan(0, 6), std::span(labels).subspan(0, 1)));
}

}  // namespace
}  // namespace acgan
