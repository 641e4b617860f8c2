#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "support/device_value.h"
#include "support/tensor_fixture.h"
#include "support/test_values.h"

namespace acgan::test {
namespace {

using Values = std::vector<double>;

class AverageFixture : public TensorFixture {
 protected:
  void step(const Tensor& value, const Tensor& average, float ramp_up) {
    backend().ema_step({.value = value,
                        .average = average,
                        .decay = kDecay,
                        .ramp_up = ramp_up,
                        .state = state.get()});
  }

  static constexpr float kDecay = 0.875f;
  DeviceValue<OptimizerState> state{backend(), OptimizerState{}};
};

}  // namespace

TEST_CASE_METHOD(AverageFixture, "a moving average follows float64", "[ops][average]") {
  const std::int64_t count = GENERATE(1, 7, 64, 1023, 70001);
  const std::int64_t applied = GENERATE(0, 5, 100000);
  const float ramp_up = GENERATE(0.0f, 10.0f);
  CAPTURE(count, applied, ramp_up);
  place(count % 2 == 0 ? Placement::Aligned : Placement::OffByOne);
  const Values before = rounded(random_values(count, 1), DType::F32);
  const Values value = rounded(random_values(count, 2), DType::F32);
  const auto t = static_cast<double>(applied + 1);
  const double decay = std::min(double{kDecay}, t / (t + double{ramp_up}));
  Reference expected{.value = before, .magnitude = Values(before.size(), 2.0), .terms = 3};
  for (std::size_t i = 0; i < before.size(); ++i) {
    expected.value[i] = decay * before[i] + (1.0 - decay) * value[i];
  }
  state.write({.applied = applied});
  const Tensor average = in_out({count}, DType::F32, before);
  step(input({count}, DType::F32, value), average, ramp_up);
  check_close(read(average), expected, DType::F32);
}

TEST_CASE_METHOD(AverageFixture, "a skipped step leaves the average alone", "[ops][average]") {
  const Values before = rounded(random_values(77, 3), DType::F32);
  const Tensor average = in_out({77}, DType::F32, before);
  const Tensor value = input({77}, DType::F32, random_values(77, 4));
  state.write({.nonfinite = 1});
  step(value, average, 0.0f);
  CHECK(read_bytes(average) == encode(before, DType::F32));
  state.write({});
  step(value, average, 0.0f);
  CHECK(read_bytes(average) != encode(before, DType::F32));
}

TEST_CASE_METHOD(AverageFixture, "an average of equal values keeps their bits", "[ops][average]") {
  const Values value = rounded(random_values(1023, 5), DType::F32);
  const Tensor average = in_out({1023}, DType::F32, value);
  step(input({1023}, DType::F32, value), average, 10.0f);
  CHECK(read_bytes(average) == encode(value, DType::F32));
}

TEST_CASE_METHOD(AverageFixture, "an average of another length is refused", "[ops][average]") {
  const Tensor average = in_out({4}, DType::F32, Values(4, 1.0));
  CHECK_THROWS_AS(step(in_out({5}, DType::F32, Values(5, 1.0)), average, 0.0f), std::logic_error);
}

}  // namespace acgan::test
