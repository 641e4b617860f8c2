#include <algorithm>

#include "base/format.h"
#include "cuda/convolution_kernels.h"
#include "cuda/convolutions.h"

namespace acgan::cuda {
namespace {

std::int64_t blocks(std::int64_t count, std::int64_t block) { return (count + block - 1) / block; }

// Vectors of eight 16-bit elements need addresses in multiples of 16 bytes.
bool is_aligned(const Tensor& tensor) {
  return reinterpret_cast<std::uintptr_t>(tensor.data) % 16 == 0;
}
bool in_eights(std::int64_t channels) { return channels % 8 == 0; }

std::string odd_channels(const ConvGeometry& g) {
  if (in_eights(g.in_c) == in_eights(g.out_c)) {
    return fmt::format("{} and {} channels, not multiples of eight", g.in_c, g.out_c);
  }
  const std::int64_t channels = in_eights(g.in_c) ? g.out_c : g.in_c;
  return fmt::format("{} channel{}, not a multiple of eight", channels, channels == 1 ? "" : "s");
}

// Which kernel computes a convolution: tensor cores where the device has them for the type, with
// 16-byte access where channels come in eights, in blocks as large as still fill the device.
class HandwrittenConvolutions final : public Convolutions {
 public:
  HandwrittenConvolutions(Device& device, Scratch& scratch) : device_(device), scratch_(scratch) {}

  std::string library(DType) const override { return "handwritten"; }
  std::string name() const override { return "our own kernels"; }
  std::size_t workspace_bytes() const override { return 0; }

  std::string note(const ConvGeometry& g, DType type) const override {
    if (type == DType::F32 || (has_tensor_cores(type) && in_eights(g.in_c) && in_eights(g.out_c))) {
      return {};
    }
    if (!has_tensor_cores(type)) {
      return fmt::format("no tensor cores for {} on compute capability {}.{}: CUDA cores compute",
                         name_of(type), arch() / 10, arch() % 10);
    }
    const std::string odd = odd_channels(g);
    if (thin_backward_data_fits(g, device_.properties().shared_bytes_per_block)) {
      return odd + ": read one by one, written by a kernel for few channels";
    }
    return odd + ": read and written one by one";
  }

  void forward(const ConvGeometry& g, const Tensor& x, const Tensor& w, const Tensor& bias,
               Activation activation, const Tensor& y) override {
    const ConvForward call{g, x, w, bias, activation, y};
    if (!has_tensor_cores(x.dtype)) return launch_conv_forward_cuda_cores(call, stream());
    TileChoice choice = product_tile(x.rows() * g.out_h * g.out_w, g.out_c, 1);
    choice.vector_filters = in_eights(g.kernel * g.kernel * g.in_c) && in_eights(g.out_c) &&
                            is_aligned(w) && is_aligned(y);
    choice.vector = choice.vector_filters && in_eights(g.in_c) && is_aligned(x);
    launch_conv_forward(call, choice, stream());
  }

  void backward_data(const ConvGeometry& g, const Tensor& dy, const Tensor& w, const Tensor& bias,
                     const Tensor& dx) override {
    const ConvBackwardData call{g, dy, w, bias, dx};
    if (!has_tensor_cores(dy.dtype)) return launch_conv_backward_data_cuda_cores(call, stream());
    if (is_aligned(dy) && is_aligned(w) &&
        thin_backward_data_fits(g, device_.properties().shared_bytes_per_block)) {
      return launch_conv_thin_backward_data(call, stream());
    }
    const std::int64_t phases = g.stride * g.stride;
    TileChoice choice = product_tile(dx.rows() * g.in_h * g.in_w / phases, g.in_c, phases);
    choice.vector = in_eights(g.in_c) && in_eights(g.out_c) && is_aligned(dy) && is_aligned(w) &&
                    is_aligned(dx);
    launch_conv_backward_data(call, choice, stream());
  }

  void backward_weight(const ConvGeometry& g, const Tensor& x, const Tensor& dy, const Tensor& dw,
                       Accumulation accumulation) override {
    const std::int64_t columns = g.kernel * g.kernel * g.in_c, rows = g.out_c;
    TileChoice choice{.arch = arch()};
    choice.vector_a = in_eights(g.out_c) && is_aligned(dy);
    choice.vector = choice.vector_a && in_eights(g.in_c) && is_aligned(x);
    if (choice.vector && rows > 64) choice.shape = TileShape::k128x128;
    if (!choice.vector && columns <= 16) choice.shape = TileShape::k64x16;
    const std::int64_t tile_rows = choice.shape == TileShape::k128x128 ? 128 : 64;
    const std::int64_t tile_columns = choice.shape == TileShape::k128x128 ? 128
                                      : choice.shape == TileShape::k64x16 ? 16
                                                                          : 64;
    const int splits = split_count(blocks(rows, tile_rows) * blocks(columns, tile_columns),
                                   x.rows() * g.out_h * g.out_w);
    const ConvBackwardWeight call{g, x, dy, scratch_.floats(splits * dw.count()), splits};
    if (has_tensor_cores(x.dtype)) {
      launch_conv_backward_weight(call, choice, stream());
    } else {
      launch_conv_backward_weight_cuda_cores(call, stream());
    }
    launch_conv_split_sum(call.partials, splits, dw, accumulation, stream());
  }

 private:
  int arch() const { return device_.properties().arch; }
  Stream stream() const { return device_.stream(); }

  bool has_tensor_cores(DType type) const {
    return (type == DType::F16 && arch() >= 75) || (type == DType::BF16 && arch() >= 80);
  }

  // The largest tile of which there are enough to give every multiprocessor one.
  TileChoice product_tile(std::int64_t rows, std::int64_t columns, std::int64_t products) const {
    TileChoice choice{.arch = arch()};
    const std::int64_t wanted = device_.properties().multiprocessors;
    if (columns > 64 && products * blocks(rows, 128) * blocks(columns, 128) >= wanted) {
      choice.shape = TileShape::k128x128;
    } else if (products * blocks(rows, 128) * blocks(columns, 64) >= wanted) {
      choice.shape = TileShape::k128x64;
    }
    return choice;
  }

  // Enough blocks for two on each multiprocessor, none with fewer than 256 pixels.
  int split_count(std::int64_t tiles, std::int64_t pixels) const {
    const std::int64_t wanted = blocks(2 * device_.properties().multiprocessors, tiles);
    return static_cast<int>(
        std::clamp<std::int64_t>(std::min(wanted, pixels / 256), 1, kMostSplits));
  }

  static constexpr std::int64_t kMostSplits = 512;

  Device& device_;
  Scratch& scratch_;
};

}  // namespace

std::unique_ptr<Convolutions> make_handwritten_convolutions(Device& device, Scratch& scratch) {
  return std::make_unique<HandwrittenConvolutions>(device, scratch);
}

}  // namespace acgan::cuda
