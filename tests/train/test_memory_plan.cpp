#include "train/memory_plan.h"

#include <catch2/catch.hpp>
#include <map>

#include "backend/open_backend.h"

namespace acgan {
namespace {

TrainStepOptions study_options(std::int64_t batch, DType compute, Objective objective) {
  return {.shape = {.image_size = 28, .channels = 1, .classes = 10, .widths = {}},
          .compute = compute,
          .objective = objective,
          .batch = batch,
          .d = {},
          .g = {},
          .q = {}};
}

TEST_CASE("the memory plan is what a step really holds") {
  const DType compute = GENERATE(DType::F32, DType::F16);
  const Objective objective = GENERATE(Objective::Dgq, Objective::Joint);
  const auto backend = open_backend("host", 1);
  TrainStepOptions options = study_options(4, compute, objective);
  options.shape.widths.spectral_norm = GENERATE(false, true);
  const TrainStep step(*backend, options);
  const std::vector<MemoryShare> held = step.memory(), planned = plan_memory(options);
  REQUIRE(held.size() == planned.size());
  for (std::size_t i = 0; i < held.size(); ++i) {
    INFO(held[i].purpose);
    CHECK(held[i].bytes == planned[i].bytes);
  }
}

TEST_CASE("at batch 1024 mixed precision needs clearly less memory than fp32") {
  const Objective objective = GENERATE(Objective::Dgq, Objective::Joint);
  const std::size_t single = total_bytes(plan_memory(study_options(1024, DType::F32, objective)));
  const std::size_t mixed = total_bytes(plan_memory(study_options(1024, DType::F16, objective)));
  CHECK(static_cast<double>(mixed) < 0.7 * static_cast<double>(single));
  CHECK_THAT(memory_plan_text(study_options(1024, DType::F32, objective), DType::F16),
             Catch::Contains("peak in use") && Catch::Contains("mixed fp16"));
}

TEST_CASE("the joint objective's second half takes no memory of its own") {
  std::map<std::string, std::size_t> dgq, joint;
  for (const auto& share : plan_memory(study_options(64, DType::F32, Objective::Dgq))) {
    dgq[share.purpose] = share.bytes;
  }
  for (const auto& share : plan_memory(study_options(64, DType::F32, Objective::Joint))) {
    joint[share.purpose] = share.bytes;
  }
  CHECK(joint.at("activations") == dgq.at("activations"));
}

}  // namespace
}  // namespace acgan
