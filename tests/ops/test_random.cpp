#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "support/device_value.h"
#include "support/tensor_fixture.h"
#include "support/test_values.h"

namespace acgan::test {
namespace {

using Words = std::array<std::uint32_t, 4>;
using Values = std::vector<double>;

// Sum over bins of (found - expected)^2 / expected; about the number of bins for uniform numbers.
double chi_square(const std::vector<int>& bins) {
  double total = 0.0;
  for (const int found : bins) total += found;
  const double expected = total / static_cast<double>(bins.size());
  double sum = 0.0;
  for (const int found : bins) sum += (found - expected) * (found - expected) / expected;
  return sum;
}

class RandomFixture : public TensorFixture {
 protected:
  Values draw(const RandomState& state, RandomStream stream, std::int64_t count) {
    const DeviceValue<RandomState> memory(backend(), state);
    const Tensor values = output({count}, DType::F32);
    backend().random_uniform(memory.get(), stream, values);
    return read(values);
  }
};

}  // namespace

// The published test vectors of the Random123 library, philox4x32 with 10 rounds.
TEST_CASE("Philox gives its published known answers", "[ops][random]") {
  CHECK(philox4x32({0, 0, 0, 0}, 0) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, 0xffffffffffffffff) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("words become floats of the promised ranges", "[ops][random]") {
  CHECK(uniform_symmetric(0) == -1.0f);
  CHECK(uniform_symmetric(0x80000000u) == 0.0f);
  CHECK(uniform_symmetric(0xffffffffu) == 1.0f - 0x1p-23f);
  CHECK(uniform_unit(0) == 0.0f);
  CHECK(uniform_unit(0xffffffffu) == 1.0f - 0x1p-24f);
}

TEST_CASE_METHOD(RandomFixture, "uniform numbers are the words of the stream in order",
                 "[ops][random]") {
  const std::int64_t count = GENERATE(1, 3, 4, 5, 1023, 6400);
  const RandomState state{.seed = 0x123456789abcdef0u, .step = (std::uint64_t{5} << 32) + 77};
  CAPTURE(count);
  const Values values = draw(state, RandomStream::Latents, count);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Words words = philox4x32({static_cast<std::uint32_t>(i / 4), 77, 5, 1}, state.seed);
    REQUIRE(values[i] == double{uniform_symmetric(words[i % 4])});
  }
}

TEST_CASE_METHOD(RandomFixture, "uniform numbers are uniform", "[ops][random]") {
  const Values values = draw({.seed = 3, .step = 9}, RandomStream::Latents, 64000);
  std::vector<int> bins(64);
  double sum = 0.0;
  double squares = 0.0;
  for (const double value : values) {
    REQUIRE((value >= -1.0 && value < 1.0));
    ++bins[static_cast<std::size_t>((value + 1.0) * 32.0)];
    sum += value;
    squares += value * value;
  }
  CHECK(chi_square(bins) < 120.0);        // 63 expected, standard deviation 11
  CHECK(std::abs(sum / 64000.0) < 0.01);  // standard deviation 0.0023
  CHECK(std::abs(squares / 64000.0 - 1.0 / 3.0) < 0.005);
}

TEST_CASE_METHOD(RandomFixture, "steps, streams and seeds give other numbers", "[ops][random]") {
  const Values base = draw({.seed = 1, .step = 0}, RandomStream::Latents, 64);
  CHECK(draw({.seed = 1, .step = 0}, RandomStream::Latents, 64) == base);
  std::set<double> seen(base.begin(), base.end());
  const auto count_of_new = [&](const Values& values) {
    return std::count_if(values.begin(), values.end(),
                         [&](double value) { return seen.insert(value).second; });
  };
  CHECK(count_of_new(draw({.seed = 1, .step = 1}, RandomStream::Latents, 64)) == 64);
  CHECK(count_of_new(draw({.seed = 1, .step = 0}, RandomStream::SampleLatents, 64)) == 64);
  CHECK(count_of_new(draw({.seed = 2, .step = 0}, RandomStream::Latents, 64)) == 64);
  const RandomState high{.seed = 1, .step = std::uint64_t{1} << 32};
  CHECK(count_of_new(draw(high, RandomStream::Latents, 64)) == 64);
}

TEST_CASE_METHOD(TensorFixture, "drawn labels are the words of their stream, evenly",
                 "[ops][random]") {
  const std::int64_t count = GENERATE(1, 5, 1023, 21000);
  const std::int64_t classes = GENERATE(1, 7, 345);
  CAPTURE(count, classes);
  const RandomState state{.seed = 21, .step = (std::uint64_t{3} << 32) + 9};
  const DeviceValue<RandomState> memory(backend(), state);
  const Tensor labels = in_out({count}, DType::I32, Values(static_cast<std::size_t>(count), -1.0));
  backend().draw_labels(memory.get(), classes, labels);
  std::vector<int> bins(static_cast<std::size_t>(classes));
  const Values drawn = read(labels);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const Words words = philox_block(state.seed, RandomStream::FakeLabels, state.step,
                                     static_cast<std::uint32_t>(i / 4));
    const auto share = static_cast<double>(words[i % 4]) / 4294967296.0;
    REQUIRE(drawn[i] == std::floor(share * static_cast<double>(classes)));
    ++bins[static_cast<std::size_t>(drawn[i])];
  }
  if (count == 21000 && classes == 7) CHECK(chi_square(bins) < 30.0);  // 6 expected
}

TEST_CASE_METHOD(TensorFixture, "advancing moves the step and nothing else", "[ops][random]") {
  const DeviceValue<RandomState> state(backend(), {.seed = 41, .step = 0xffffffffu});
  backend().advance_random(state.get());
  CHECK(state.read().seed == 41);
  CHECK(state.read().step == std::uint64_t{1} << 32);
}

TEST_CASE("a sequence runs through the blocks of its stream", "[ops][random]") {
  PhiloxSequence sequence(7, RandomStream::Shuffle, 3);
  for (std::uint32_t block = 0; block < 5; ++block) {
    for (const std::uint32_t word : philox_block(7, RandomStream::Shuffle, 3, block)) {
      CHECK(sequence.next() == word);
    }
  }
}

TEST_CASE("bounded integers stay below their bound and are uniform", "[ops][random]") {
  const std::uint32_t bound = GENERATE(1u, 2u, 3u, 10u, 50000u, 3u << 30, 0xffffffffu);
  CAPTURE(bound);
  PhiloxSequence sequence(11, RandomStream::Shuffle, 0);
  const std::size_t count = std::min<std::size_t>(bound, 12);
  std::vector<int> bins(count);
  for (int draw = 0; draw < 12000; ++draw) {
    const std::uint32_t value = sequence.next_below(bound);
    REQUIRE(value < bound);
    ++bins[static_cast<std::size_t>(std::uint64_t{value} * count / bound)];
  }
  // Without the rejection a bound of 3 * 2^30 would fill every third value twice as often; by
  // residue, because the excess is spread over the whole range.
  CHECK(chi_square(bins) < 40.0);  // at most 11 expected, standard deviation 4.7
}

TEST_CASE("bounded integers have no bias", "[ops][random]") {
  PhiloxSequence sequence(12, RandomStream::Shuffle, 0);
  std::vector<int> residues(3);
  for (int draw = 0; draw < 12000; ++draw) ++residues[sequence.next_below(3u << 30) % 3];
  CHECK(chi_square(residues) < 20.0);  // 2 expected; thousands without the rejection
}

}  // namespace acgan::test
