#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/cpu/cpu_backend.h"

namespace acgan {

class OneDnnLibrary;

// The CPU backend with oneDNN's convolutions and dense layers, in the types that the processor has
// instructions for (F32; BF16 with AVX512-BF16 or AMX); other types, and shapes for which oneDNN
// has only its reference loops, go through CpuBackend's matrix product.
class OneDnnBackend : public CpuBackend {
 public:
  explicit OneDnnBackend(int threads);  // 0: all that the process may use
  ~OneDnnBackend() override;

  std::string name() const override { return "onednn"; }
  std::string description() const override;
  bool computes_in(DType type) const override;
  std::string convolution_library(DType type) const override {
    return computes_in(type) ? "onednn" : "handwritten";
  }
  // One line for each operation and shape met so far: "conv2d_forward n64 ... : jit:avx2".
  std::vector<std::string> implementations() const;

  void release(void* memory) noexcept override;

  void conv2d_forward(const ConvGeometry& geometry, const Tensor& x, const Tensor& w,
                      const Tensor& bias, Activation activation, const Tensor& y) override;
  void conv2d_backward_data(const ConvGeometry& geometry, const Tensor& dy, const Tensor& w,
                            const Tensor& bias, const Tensor& dx) override;
  void conv2d_backward_weight(const ConvGeometry& geometry, const Tensor& x, const Tensor& dy,
                              const Tensor& dw, Accumulation accumulation) override;
  void dense_forward(const Tensor& x, const Tensor& w, const Tensor& bias,
                     const Tensor& y) override;
  void dense_backward_data(const Tensor& dy, const Tensor& w, const Tensor& dx,
                           Accumulation accumulation) override;
  void dense_backward_weight(const Tensor& x, const Tensor& dy, const Tensor& dw,
                             Accumulation accumulation) override;
  void weights_updated(const Tensor& w) override;

 private:
  std::unique_ptr<OneDnnLibrary> library_;  // primitives by shape, reordered weights, scratch
};

}  // namespace acgan
