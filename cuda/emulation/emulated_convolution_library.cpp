#include <vector>

#include "base/error.h"
#include "cuda/emulation/emulated_stream.h"
#include "cuda/library/convolution_library.h"

namespace acgan::cuda {
namespace {

std::vector<float> widened(const Tensor& tensor) {
  std::vector<float> values(static_cast<std::size_t>(tensor.count()));
  visit_dtype(tensor.dtype, [&]<typename T>(T) {
    const auto* stored = static_cast<const T*>(tensor.data);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = to_float(stored[i]);
  });
  return values;
}

// visit(pixel of x, tap, pixel of y) for every pair of pixels that a tap joins.
template <typename Visitor>
void for_each_tap(const ConvGeometry& g, std::int64_t images, const Visitor& visit) {
  for (std::int64_t q = 0; q < images * g.out_h * g.out_w; ++q) {
    const std::int64_t image = q / (g.out_h * g.out_w);
    const std::int64_t i = q / g.out_w % g.out_h, j = q % g.out_w;
    for (std::int64_t tap = 0; tap < g.kernel * g.kernel; ++tap) {
      const std::int64_t h = g.stride * i - g.pad + tap / g.kernel;
      const std::int64_t v = g.stride * j - g.pad + tap % g.kernel;
      if (h < 0 || h >= g.in_h || v < 0 || v >= g.in_w) continue;
      visit((image * g.in_h + h) * g.in_w + v, tap, q);
    }
  }
}

const Tensor& result_of(const LibraryConvolution& call) {
  return call.direction == ConvDirection::Forward        ? call.y
         : call.direction == ConvDirection::BackwardData ? call.x
                                                         : call.w;
}

void add_products(const LibraryConvolution& call, const std::vector<float>& x,
                  const std::vector<float>& w, const std::vector<float>& y, float* sums) {
  const ConvGeometry& g = call.geometry;
  const std::int64_t taps = g.kernel * g.kernel;
  for_each_tap(g, call.x.rows(), [&](std::int64_t p, std::int64_t tap, std::int64_t q) {
    for (std::int64_t o = 0; o < g.out_c; ++o) {
      const std::int64_t first_x = p * g.in_c, first_w = (o * taps + tap) * g.in_c;
      const std::int64_t at_y = q * g.out_c + o;
      for (std::int64_t c = 0; c < g.in_c; ++c) {
        const auto at_x = static_cast<std::size_t>(first_x + c);
        const auto at_w = static_cast<std::size_t>(first_w + c);
        if (call.direction == ConvDirection::Forward) {
          sums[at_y] += x[at_x] * w[at_w];
        } else if (call.direction == ConvDirection::BackwardData) {
          sums[at_x] += w[at_w] * y[static_cast<std::size_t>(at_y)];
        } else {
          sums[at_w] += x[at_x] * y[static_cast<std::size_t>(at_y)];
        }
      }
    }
  });
}

void compute(const LibraryConvolution& call) {
  const auto operand = [&](ConvDirection result, const Tensor& tensor) {
    return call.direction == result ? std::vector<float>{} : widened(tensor);
  };
  const std::vector<float> x = operand(ConvDirection::BackwardData, call.x);
  const std::vector<float> w = operand(ConvDirection::BackwardWeight, call.w);
  const std::vector<float> y = operand(ConvDirection::Forward, call.y);
  const Tensor& result = result_of(call);
  std::vector<float> sums(static_cast<std::size_t>(result.count()));
  add_products(call, x, w, y, sums.data());
  visit_dtype(result.dtype, [&]<typename T>(T) {
    auto* stored = static_cast<T*>(result.data);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const bool add = call.accumulation == Accumulation::Add;
      stored[i] = from_float<T>(add ? to_float(stored[i]) + sums[i] : sums[i]);
    }
  });
}

// The twin of cuDNN: FP32 sums, one rounding to the result's type.
class EmulatedConvolutionLibrary final : public ConvolutionLibrary {
 public:
  explicit EmulatedConvolutionLibrary(Device& device) : device_(device) {}

  std::string name() const override { return "loops in place of cuDNN"; }

  void run(const LibraryConvolution& call) override {
    ACGAN_CHECK(call.x.dtype == call.w.dtype && call.x.dtype == call.y.dtype);
    for (const Tensor& tensor : {call.x, call.w, call.y}) {
      ACGAN_CHECK(reinterpret_cast<std::uintptr_t>(tensor.data) % kLibraryAlignment == 0);
    }
    ACGAN_CHECK(call.accumulation == Accumulation::Overwrite ||
                call.direction == ConvDirection::BackwardWeight);
    emulation::enqueue(device_.stream(), [call] { compute(call); });
  }

 private:
  Device& device_;
};

}  // namespace

std::unique_ptr<ConvolutionLibrary> open_convolution_library(Device& device, Scratch&, Tf32) {
  return std::make_unique<EmulatedConvolutionLibrary>(device);
}

}  // namespace acgan::cuda
