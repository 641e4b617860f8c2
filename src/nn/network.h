#pragma once

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "nn/layer.h"

namespace acgan {

class Network;

// The memory of one pass through one network: every layer's output and what layers saved.
class Activations {
 public:
  // `rows` a group. `output`, where given, is used as the last layer's output instead of memory of
  // our own.
  Activations(const Network& network, std::int64_t rows, std::int64_t groups,
              const Tensor& output = {});

  // A pass of the first `groups` groups in the memory of this one, for when what lies there is not
  // needed any more; not longer than this lives.
  Activations in_place_of(std::int64_t groups) const;

  const Tensor& output() const { return outputs_.back(); }
  const std::vector<Tensor>& outputs() const { return outputs_; }  // by layer
  std::int64_t groups() const { return groups_; }
  std::size_t bytes() const;  // of its own

 private:
  friend class Network;
  explicit Activations(std::int64_t groups) : groups_(groups) {}

  std::int64_t groups_;
  Tensor input_;                     // set by forward
  std::vector<OwnedTensor> memory_;  // outputs, saved
  std::vector<Tensor> outputs_;      // by layer
  std::vector<std::vector<Tensor>> saved_;
};

// Where gradients lie between two layers on the way back. One backward pass runs after the other,
// so all of them share one.
class GradientScratch {
 public:
  // Makes room for `rows` rows (cotangents times rows of a group) through `network`.
  void reserve(const Network& network, std::int64_t rows);
  void allocate(Backend& backend);

  void* half(std::size_t index) const { return halves_[index].data(); }
  std::size_t bytes() const { return halves_[0].bytes() + halves_[1].bytes(); }

 private:
  std::size_t half_bytes_ = 0;
  std::array<Buffer, 2> halves_;  // written in turn
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
  void backward(const Activations& activations, const GradientScratch& scratch,
                const NetworkBackward& request) const;
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
