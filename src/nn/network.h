#pragma once

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "nn/layer.h"

namespace acgan {

class Network;

// The memory of one pass through one network: every layer's output, what layers saved, and the
// scratch for gradients.
class Activations {
 public:
  // `rows` a group; `cotangents`: the most that a backward pass will bring, 0 for inference only.
  // `output`, where given, is used as the last layer's output instead of memory of our own.
  Activations(const Network& network, std::int64_t rows, std::int64_t groups,
              std::int64_t cotangents, const Tensor& output = {});

  const Tensor& output() const { return outputs_.back(); }
  std::int64_t groups() const { return groups_; }
  std::size_t activation_bytes() const;
  std::size_t gradient_bytes() const;

 private:
  friend class Network;

  std::int64_t groups_;
  Tensor input_;                     // set by forward
  std::vector<OwnedTensor> memory_;  // outputs, saved
  std::vector<Tensor> outputs_;      // by layer
  std::vector<std::vector<Tensor>> saved_;
  std::array<Buffer, 2> gradients_;  // written in turn on the way back
};

struct NetworkBackward {
  Tensor dy;  // gradient of the output; may be overwritten
  std::span<const int> group_of;
  std::span<const GradientTarget> targets;
  Tensor dx;  // gradient of the input for the cotangents from dx_begin on; or empty
  std::int64_t dx_begin = 0;
  Accumulation dx_accumulation = Accumulation::Overwrite;
};

// Layers in order and their parameters. Networks do not branch.
class Network {
 public:
  explicit Network(const std::string& prefix) : parameters_(prefix) {}

  // L(parameters, arguments...); the new layer must fit the one before.
  template <typename L, typename... Args>
  void add(Args&&... args) {
    append(std::make_unique<L>(parameters_, std::forward<Args>(args)...));
  }
  void append(std::unique_ptr<Layer> layer);
  void allocate(Backend& backend, DType compute);

  void forward(const Tensor& x, Activations& activations) const;
  void infer(const Tensor& x, Activations& activations) const;
  void backward(Activations& activations, const NetworkBackward& request) const;
  void update_running(const Activations& activations, int times, const OptimizerState* state) const;

  ParameterStore& parameters() { return parameters_; }
  const ParameterStore& parameters() const { return parameters_; }
  const std::vector<std::unique_ptr<Layer>>& layers() const { return layers_; }
  DType compute() const { return compute_; }
  double forward_flops() const;  // of one row

 private:
  ParameterStore parameters_;
  std::vector<std::unique_ptr<Layer>> layers_;
  DType compute_ = DType::F32;
};

}  // namespace acgan
