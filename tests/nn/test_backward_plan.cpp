#include "nn/backward_plan.h"

#include <catch2/catch.hpp>

#include "base/error.h"

namespace acgan {
namespace {

PlannedLayer layer(std::vector<int> sources) { return {.sources = std::move(sources)}; }
PlannedLayer in_place(std::vector<int> sources) {
  return {.sources = std::move(sources), .works_in_place = true};
}

TEST_CASE("gradients of a chain lie in two slots in turn") {
  const BackwardPlan plan =
      plan_backward({layer({-1}), layer({0}), in_place({1}), layer({2}), layer({3}), layer({4})});
  CHECK(plan.slots == 2);
  CHECK(plan.gradient == std::vector<int>{1, 0, 0, 1, 0, kOutputGradient});
  CHECK(plan.inputs[0][0].place == kInputGradient);
  for (const auto& steps : plan.inputs) CHECK_FALSE(steps[0].adds());
}

TEST_CASE("a last layer in place hands on where the output's gradient lies") {
  const BackwardPlan plan = plan_backward({layer({-1}), in_place({0})});
  CHECK(plan.slots == 0);
  CHECK(plan.gradient == std::vector<int>{kOutputGradient, kOutputGradient});
}

// 0 -> 1 in place -> 2 -> sum with 0 -> 4
TEST_CASE("what two layers read keeps its slot until both have written") {
  const BackwardPlan plan =
      plan_backward({layer({-1}), in_place({0}), layer({1}), in_place({2, 0}), layer({3})});
  CHECK(plan.gradient[3] == 0);         // of the sum, written by 4
  CHECK(plan.gradient[2] == 0);         // the sum hands its own on
  CHECK(plan.gradient[0] == 1);         // and writes the shortcut's beside it
  CHECK(plan.gradient[1] == 2);         // neither may be overwritten
  CHECK(plan.inputs[1][0].place == 2);  // in place,
  CHECK(plan.inputs[1][0].sum == 1);    // added to what the shortcut brought
  CHECK_FALSE(plan.inputs[3][1].adds());
  CHECK(plan.slots == 3);
}

TEST_CASE("the input's gradient is added to by every reader after the first") {
  const BackwardPlan plan = plan_backward({layer({-1}), layer({-1}), in_place({0, 1})});
  CHECK(plan.inputs[1][0].place == kInputGradient);
  CHECK_FALSE(plan.inputs[1][0].adds());
  CHECK(plan.inputs[0][0].sum == kInputGradient);
  CHECK(plan.inputs[0][0].adds());
  CHECK(plan.inputs[0][0].place >= 0);
}

TEST_CASE("an output that nobody reads is a broken promise") {
  CHECK_THROWS_AS(plan_backward({layer({-1}), layer({-1})}), std::logic_error);
}

}  // namespace
}  // namespace acgan
