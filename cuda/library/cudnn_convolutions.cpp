#include "cuda/library/cudnn_convolutions.h"

#include <cstdint>

#include "cuda/convolution_kernels.h"
#include "cuda/kernels.h"

namespace acgan::cuda {
namespace {

template <typename... Tensors>
bool are_aligned(const Tensors&... tensors) {
  return ((reinterpret_cast<std::uintptr_t>(tensors.data) % kLibraryAlignment == 0) && ...);
}

// In 16 bits it rounds more often than our kernels do, as the library and the frameworks built on
// it do:
// - A result is rounded before its bias is added and, with the activation, once more after. cuDNN
//   cannot fuse LeakyReLU, gives no F32 result of 16-bit operands, and starting from the bias
//   (beta = 1) would read and write y once more in the case that has an activation.
// - The weight gradient comes in 16 bits and is widened: fp16 loses what is below 6e-8 and
//   overflows above 65504, which the loss scale must keep apart. Our kernels keep F32 throughout,
//   so they are what trains in mixed precision; this is what they are compared with.
class CudnnConvolutions final : public Convolutions {
 public:
  CudnnConvolutions(Device& device, std::unique_ptr<ConvolutionLibrary> library,
                    Convolutions& unaligned)
      : device_(device),
        library_(std::move(library)),
        unaligned_(unaligned),
        half_gradient_(device),
        wide_gradient_(device) {}

  std::string name() const override { return library_->name(); }
  std::string library(DType) const override { return "cudnn"; }
  std::size_t workspace_bytes() const override {
    return half_gradient_.bytes() + wide_gradient_.bytes();
  }
  std::string note(const ConvGeometry&, DType) const override { return {}; }

  void forward(const ConvGeometry& g, const Tensor& x, const Tensor& w, const Tensor& bias,
               Activation activation, const Tensor& y) override {
    if (!are_aligned(x, w, y)) return unaligned_.forward(g, x, w, bias, activation, y);
    library_->run({.direction = ConvDirection::Forward, .geometry = g, .x = x, .w = w, .y = y});
    finish(bias, activation, y);
  }

  void backward_data(const ConvGeometry& g, const Tensor& dy, const Tensor& w, const Tensor& bias,
                     const Tensor& dx) override {
    if (!are_aligned(dx, w, dy)) return unaligned_.backward_data(g, dy, w, bias, dx);
    library_->run(
        {.direction = ConvDirection::BackwardData, .geometry = g, .x = dx, .w = w, .y = dy});
    finish(bias, Activation::None, dx);
  }

  void backward_weight(const ConvGeometry& g, const Tensor& x, const Tensor& dy, const Tensor& dw,
                       Accumulation accumulation) override {
    if (!are_aligned(x, dw, dy)) return unaligned_.backward_weight(g, x, dy, dw, accumulation);
    LibraryConvolution call{.direction = ConvDirection::BackwardWeight,
                            .geometry = g,
                            .x = x,
                            .w = dw,
                            .y = dy,
                            .accumulation = accumulation};
    if (x.dtype == DType::F32) return library_->run(call);
    call.w = {half_gradient_.floats((dw.count() + 1) / 2), dw.shape, x.dtype};
    call.accumulation = Accumulation::Overwrite;
    library_->run(call);
    if (accumulation == Accumulation::Overwrite) return launch_cast(call.w, dw, device_.stream());
    const Tensor wide{wide_gradient_.floats(dw.count()), dw.shape, DType::F32};
    launch_cast(call.w, wide, device_.stream());
    launch_conv_split_sum(wide.as<float>(), 1, dw, Accumulation::Add, device_.stream());
  }

 private:
  void finish(const Tensor& bias, Activation activation, const Tensor& result) {
    if (!bias && activation == Activation::None) return;
    launch_bias_activation(bias, activation, result, device_.stream());
  }

  Device& device_;
  std::unique_ptr<ConvolutionLibrary> library_;
  Convolutions& unaligned_;
  // Apart from the backend's scratch, which the library takes its workspace from.
  Scratch half_gradient_, wide_gradient_;
};

}  // namespace

std::unique_ptr<Convolutions> make_cudnn_convolutions(Device& device,
                                                      std::unique_ptr<ConvolutionLibrary> library,
                                                      Convolutions& unaligned) {
  return std::make_unique<CudnnConvolutions>(device, std::move(library), unaligned);
}

}  // namespace acgan::cuda
