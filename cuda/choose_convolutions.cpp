#include "base/error.h"
#include "cuda/convolutions.h"
#include "cuda/library/cudnn_convolutions.h"

namespace acgan::cuda {
namespace {

// Our kernels or cuDNN, by the type that is computed in.
class ConvolutionsByType final : public Convolutions {
 public:
  ConvolutionsByType(Device& device, Scratch& scratch, ConvLibrary choice, Tf32 tf32)
      : choice_(choice), handwritten_(make_handwritten_convolutions(device, scratch)) {
    if (choice == ConvLibrary::Handwritten) return;
    try {
      cudnn_ = make_cudnn_convolutions(device, open_convolution_library(device, scratch, tf32),
                                       *handwritten_);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Device) throw;
      why_no_cudnn_ = error.what();
    }
    if (choice == ConvLibrary::Cudnn && cudnn_ == nullptr) {
      fail(ErrorKind::Device, "{}; --conv handwritten does without it", why_no_cudnn_);
    }
  }

  std::string name() const override {
    if (choice_ == ConvLibrary::Cudnn) return "convolutions by " + cudnn_->name();
    if (cudnn_ != nullptr) {
      return fmt::format("convolutions by {} in fp32, by {} in 16 bits", cudnn_->name(),
                         handwritten_->name());
    }
    const std::string why = why_no_cudnn_.empty() ? "" : " (" + why_no_cudnn_ + ")";
    return fmt::format("convolutions by {}{}", handwritten_->name(), why);
  }
  std::string library(DType type) const override { return of(type).library(type); }
  std::size_t workspace_bytes() const override {
    return handwritten_->workspace_bytes() + (cudnn_ != nullptr ? cudnn_->workspace_bytes() : 0);
  }
  std::string note(const ConvGeometry& geometry, DType type) const override {
    return of(type).note(geometry, type);
  }
  void forward(const ConvGeometry& geometry, const Tensor& x, const Tensor& w, const Tensor& bias,
               Activation activation, const Tensor& y) override {
    of(x.dtype).forward(geometry, x, w, bias, activation, y);
  }
  void backward_data(const ConvGeometry& geometry, const Tensor& dy, const Tensor& w,
                     const Tensor& bias, const Tensor& dx) override {
    of(dy.dtype).backward_data(geometry, dy, w, bias, dx);
  }
  void backward_weight(const ConvGeometry& geometry, const Tensor& x, const Tensor& dy,
                       const Tensor& dw, Accumulation accumulation) override {
    of(x.dtype).backward_weight(geometry, x, dy, dw, accumulation);
  }

 private:
  Convolutions& of(DType type) const {
    const bool wants_cudnn = choice_ == ConvLibrary::Cudnn || type == DType::F32;
    return cudnn_ != nullptr && wants_cudnn ? *cudnn_ : *handwritten_;
  }

  ConvLibrary choice_;
  std::unique_ptr<Convolutions> handwritten_, cudnn_;
  std::string why_no_cudnn_;
};

}  // namespace

std::unique_ptr<Convolutions> choose_convolutions(Device& device, Scratch& scratch,
                                                  ConvLibrary choice, Tf32 tf32) {
  return std::make_unique<ConvolutionsByType>(device, scratch, choice, tf32);
}

}  // namespace acgan::cuda
