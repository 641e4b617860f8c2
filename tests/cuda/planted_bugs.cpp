// Plants one bug in the kernels (planted_bugs.cmake) and runs an operation that has it, under every
// schedule and several seeds; prints a line a schedule that says how the bug showed.
// usage: planted_bugs BUG OPERATION|all SEEDS        exit code 1: it showed, 2: usage
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "cuda/convolution_kernels.h"
#include "cuda/device_array.h"
#include "cuda/kernels.h"
#include "cuda/launch.h"
#include "planted.h"

namespace acgan::test {
namespace {

using Values = std::vector<double>;
using cuda::TileChoice;
using cuda::TileShape;

std::size_t index(std::int64_t value) { return static_cast<std::size_t>(value); }

Values random_values(std::int64_t count, unsigned seed) {
  std::mt19937 engine(seed);
  Values values(index(count));
  for (double& value : values) value = static_cast<double>(engine()) / 2147483648.0 - 1.0;
  return values;
}

cuda::Stream stream() {
  static emulation::EmulatedStream own;
  return reinterpret_cast<cuda::Stream>(&own);
}

template <typename T>
Tensor view(const DeviceArray<T>& array, const Shape& shape) {
  return {array.data(), shape, DTypeOf<T>::value};
}

// What an operation came to.
struct Outcome {
  bool wrong = false, stray_write = false;
};

struct Sum {  // in float64, with what its error is measured against
  double value = 0.0, magnitude = 0.0;
  void add(double term) {
    value += term;
    magnitude += std::fabs(term);
  }
};

// Whether every value is within one rounding to `storage_unit` and the error of a float sum.
bool are_close(const Values& actual, const std::vector<Sum>& expected, double storage_unit) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double allowed = std::fabs(expected[i].value) * storage_unit + 1e-7 +
                           expected[i].magnitude * std::ldexp(1.0, -20);
    if (!(std::fabs(actual[i] - expected[i].value) <= allowed)) return false;
  }
  return true;
}

constexpr double kHalfUnit = 1.0 / 2048, kFloatUnit = 1.0 / (1 << 24);

// Three images whose 147 output pixels fill two blocks of 64 and part of a third; eight steps of
// the pipeline.
constexpr std::int64_t kImages = 3;
constexpr ConvGeometry kWide{
    .in_h = 14, .in_w = 14, .in_c = 16, .out_h = 7, .out_w = 7, .out_c = 64};
// One channel, as at the end of a generator.
constexpr ConvGeometry kThin{
    .in_h = 14, .in_w = 14, .in_c = 1, .out_h = 7, .out_w = 7, .out_c = 32};

Shape image_shape(const ConvGeometry& g) { return {kImages, g.in_h, g.in_w, g.in_c}; }
Shape output_shape(const ConvGeometry& g) { return {kImages, g.out_h, g.out_w, g.out_c}; }
Shape filter_shape(const ConvGeometry& g) { return {g.out_c, g.kernel, g.kernel, g.in_c}; }

// visit(index in x, index in w, index in y) for every product of the convolution.
template <typename Visitor>
void for_each_product(const ConvGeometry& g, const Visitor& visit) {
  for (std::int64_t p = 0; p < output_shape(g).count(); ++p) {
    const std::int64_t o = p % g.out_c, pixel = p / g.out_c;
    const std::int64_t j = pixel % g.out_w, i = pixel / g.out_w % g.out_h;
    const std::int64_t n = pixel / g.out_w / g.out_h;
    for (std::int64_t r = 0; r < g.kernel; ++r) {
      for (std::int64_t s = 0; s < g.kernel; ++s) {
        const std::int64_t h = g.stride * i + r - g.pad, v = g.stride * j + s - g.pad;
        if (h < 0 || h >= g.in_h || v < 0 || v >= g.in_w) continue;
        for (std::int64_t c = 0; c < g.in_c; ++c) {
          visit(index(((n * g.in_h + h) * g.in_w + v) * g.in_c + c),
                index(((o * g.kernel + r) * g.kernel + s) * g.in_c + c), index(p));
        }
      }
    }
  }
}

Outcome forward() {
  const ConvGeometry& g = kWide;
  const DeviceArray<Half> x(random_values(image_shape(g).count(), 1));
  const DeviceArray<Half> w(random_values(filter_shape(g).count(), 2));
  const DeviceArray<Half> y(index(output_shape(g).count()));
  cuda::launch_conv_forward(
      {g,
       view(x, image_shape(g)),
       view(w, filter_shape(g)),
       {},
       Activation::None,
       view(y, output_shape(g))},
      TileChoice{.shape = TileShape::k64x64, .vector = true, .arch = emulation::settings.arch / 10},
      stream());
  static const std::vector<Sum> expected = [&] {
    std::vector<Sum> sums(y.count());
    const Values image = x.values(), filter = w.values();
    for_each_product(
        g, [&](std::size_t i, std::size_t f, std::size_t o) { sums[o].add(image[i] * filter[f]); });
    return sums;
  }();
  return {!are_close(y.values(), expected, kHalfUnit), !y.intact()};
}

Outcome backward_weight() {
  const ConvGeometry& g = kWide;
  constexpr int kSplits = 2;
  const DeviceArray<Half> x(random_values(image_shape(g).count(), 3));
  const DeviceArray<Half> dy(random_values(output_shape(g).count(), 4));
  const std::size_t count = index(filter_shape(g).count());
  const DeviceArray<float> partials(kSplits * count);
  cuda::launch_conv_backward_weight(
      {g, view(x, image_shape(g)), view(dy, output_shape(g)), partials.data(), kSplits},
      TileChoice{.shape = TileShape::k64x64, .vector = true, .vector_a = true}, stream());
  static const std::vector<Sum> expected = [&] {
    std::vector<Sum> sums(count);
    const Values image = x.values(), gradient = dy.values();
    for_each_product(g, [&](std::size_t i, std::size_t f, std::size_t o) {
      sums[f].add(image[i] * gradient[o]);
    });
    return sums;
  }();
  const Values parts = partials.values();
  Values dw(count);
  for (std::size_t i = 0; i < count; ++i) dw[i] = parts[i] + parts[count + i];
  return {!are_close(dw, expected, kFloatUnit), !partials.intact()};
}

Outcome thin_backward_data() {
  const ConvGeometry& g = kThin;
  const DeviceArray<Half> dy(random_values(output_shape(g).count(), 5));
  const DeviceArray<Half> w(random_values(filter_shape(g).count(), 6));
  const DeviceArray<Half> dx(index(image_shape(g).count()));
  cuda::launch_conv_thin_backward_data(
      {g, view(dy, output_shape(g)), view(w, filter_shape(g)), {}, view(dx, image_shape(g))},
      stream());
  static const std::vector<Sum> expected = [&] {
    std::vector<Sum> sums(dx.count());
    const Values gradient = dy.values(), filter = w.values();
    for_each_product(g, [&](std::size_t i, std::size_t f, std::size_t o) {
      sums[i].add(gradient[o] * filter[f]);
    });
    return sums;
  }();
  return {!are_close(dx.values(), expected, kHalfUnit), !dx.intact()};
}

// 85 lanes share each of three groups of columns: no power of two.
Outcome column_sums() {
  constexpr std::int64_t kRows = 500, kChannels = 3;
  const DeviceArray<float> dy(random_values(kRows * kChannels, 7));
  const DeviceArray<float> db(index(kChannels));
  const DeviceArray<float> partials(index(cuda::column_sum_splits(kRows) * kChannels));
  cuda::launch_bias_backward(view(dy, {kRows, kChannels}), view(db, {kChannels}),
                             Accumulation::Overwrite, partials.data(), stream());
  std::vector<Sum> expected(index(kChannels));
  for (std::size_t i = 0; i < dy.count(); ++i) expected[i % kChannels].add(dy.values()[i]);
  return {!are_close(db.values(), expected, kFloatUnit), !db.intact() || !partials.intact()};
}

Outcome loss() {
  constexpr std::int64_t kCount = 700;
  const DeviceArray<float> logits(random_values(kCount, 8));
  const DeviceArray<float> mean(1);
  LossResult result;
  result.loss = mean.data();
  cuda::launch_bce_with_logits(view(logits, {kCount, 1}), 1.0f, result, stream());
  Sum expected;
  for (const double l : logits.values()) expected.add(std::log1p(std::exp(-l)) / kCount);
  return {!are_close(mean.values(), {expected}, kFloatUnit), !mean.intact()};
}

// Every block has something to flag.
Outcome nonfinite() {
  const Values values(index(4096), INFINITY);
  const DeviceArray<float> gradient(values);
  OptimizerState state;
  cuda::launch_flag_nonfinite(view(gradient, {4096}), &state, stream());
  return {state.nonfinite != 1, false};
}

const std::map<std::string, std::function<Outcome()>> kOperations = {
    {"forward", forward},
    {"forward_sm75",
     [] {
       emulation::settings.arch = 750;
       const Outcome outcome = forward();
       emulation::settings.arch = 800;
       return outcome;
     }},
    {"backward_weight", backward_weight},
    {"thin_backward_data", thin_backward_data},
    {"column_sums", column_sums},
    {"loss", loss},
    {"nonfinite", nonfinite},
};

struct ScheduleName {
  emulation::Schedule schedule;
  const char* name;
};
constexpr ScheduleName kSchedules[] = {{emulation::Schedule::InOrder, "in_order"},
                                       {emulation::Schedule::Reverse, "reverse"},
                                       {emulation::Schedule::Uniform, "uniform"},
                                       {emulation::Schedule::Priority, "priority"}};

bool shows(const std::string& name, const std::function<Outcome()>& operation, int seeds) {
  bool any = false;
  for (const ScheduleName& each : kSchedules) {
    int wrong = 0, stray_writes = 0, faults = 0;
    std::string message;
    emulation::settings.schedule = each.schedule;
    emulation::counters = {};
    for (int seed = 1; seed <= seeds; ++seed) {
      emulation::settings.seed = static_cast<std::uint64_t>(seed);
      try {
        const Outcome outcome = operation();
        wrong += outcome.wrong ? 1 : 0;
        stray_writes += outcome.stray_write ? 1 : 0;
      } catch (const emulation::Fault& fault) {
        ++faults;
        message = fault.what();
      }
    }
    const auto conflicts = static_cast<unsigned long long>(emulation::counters.ldmatrix_conflicts);
    std::printf("%s, %s: %d wrong, %d stray writes, %d faults, %llu bank conflicts %s\n",
                name.c_str(), each.name, wrong, stray_writes, faults, conflicts, message.c_str());
    any = any || wrong + stray_writes + faults != 0 || conflicts != 0;
  }
  return any;
}

int main_with(const std::string& bug, const std::string& chosen, int seeds) {
  bool known = false;
  for (std::size_t i = 0; i < std::size(cuda::kPlantNames); ++i) {
    if (bug != cuda::kPlantNames[i]) continue;
    cuda::chosen_plant = static_cast<cuda::Plant>(i);
    known = true;
  }
  if (!known || (chosen != "all" && kOperations.count(chosen) == 0) || seeds < 1) return 2;
  bool any = false;
  for (const auto& [name, operation] : kOperations) {
    if (chosen == "all" || chosen == name) any = shows(name, operation, seeds) || any;
  }
  return any ? 1 : 0;
}

}  // namespace
}  // namespace acgan::test

int main(int argc, char** argv) {
  const int code = argc == 4 ? acgan::test::main_with(argv[1], argv[2], std::atoi(argv[3])) : 2;
  if (code == 2) std::fputs("usage: planted_bugs BUG OPERATION|all SEEDS\n", stderr);
  return code;
}
