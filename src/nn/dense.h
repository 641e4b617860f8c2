#pragma once

#include "nn/layer.h"

namespace acgan {

enum class DenseOutput { Compute, Float };  // Float: F32 whatever the compute dtype, for logits

// y = W x + b, weight [out,in].
class Dense : public Layer {
 public:
  Dense(ParameterStore& store, const std::string& name, std::int64_t in, std::int64_t out,
        BiasTraining bias, DenseOutput output = DenseOutput::Compute);

  Shape input_shape() const override { return {in_}; }
  Shape output_shape() const override { return {out_}; }
  DType output_dtype(DType compute) const override {
    return output_ == DenseOutput::Float ? DType::F32 : compute;
  }
  double forward_flops() const override {
    return 2.0 * static_cast<double>(in_) * static_cast<double>(out_);
  }
  void forward(Backend& backend, const ParameterStore& parameters,
               const LayerForward& pass) const override;
  void backward(Backend& backend, const ParameterStore& parameters,
                const LayerBackward& pass) const override;

 private:
  std::int64_t in_, out_;
  BiasTraining bias_training_;
  DenseOutput output_;
  int weight_, bias_;
};

}  // namespace acgan
