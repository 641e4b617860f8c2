#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "nn/backward_plan.h"
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

// Where gradients lie between layers on the way back: slots of one size, as many as the network
// that needs most has gradients at a time. One backward pass runs after the other, so all of them
// share one.
class GradientScratch {
 public:
  // Makes room for `rows` rows (cotangents times rows of a group) through `network`, which has all
  // its layers.
  void reserve(const Network& network, std::int64_t rows);
  void allocate(Backend& backend);

  void* slot(int index) const { return slots_.at(static_cast<std::size_t>(index)).data(); }
  std::size_t bytes() const { return slots_.size() * slot_bytes_; }

 private:
  std::size_t slot_bytes_ = 0, slot_count_ = 0;
  std::vector<Buffer> slots_;
};

struct NetworkBackward {
  Tensor dy;  // gradient of the output; may be overwritten
  std::span<const int> group_of;
  std::span<const GradientTarget> targets;
  Tensor dx;  // gradient of the input for the cotangents from dx_begin on; or empty
  std::int64_t dx_begin = 0;
  Accumulation dx_accumulation = Accumulation::Overwrite;
};

// Layers and their parameters. Each layer reads outputs of earlier ones: the one before it, or
// those that it names. What two layers read gets the sum of both gradients on the way back.
class Network {
 public:
  explicit Network(const std::string& prefix) : parameters_(prefix) {}

  // L(parameters, arguments...), which reads the layer before it; returns its number.
  template <typename L, typename... Args>
  int add(Args&&... args) {
    return append(std::make_unique<L>(parameters_, std::forward<Args>(args)...));
  }
  int append(std::unique_ptr<Layer> layer) { return append(std::move(layer), {newest()}); }
  // Reads `sources`, one for each input, whose outputs must fit.
  int append(std::unique_ptr<Layer> layer, std::vector<int> sources);
  int newest() const { return static_cast<int>(layers_.size()) - 1; }
  // All layers are there.
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
  const BackwardPlan& backward_plan() const { return plan_; }

 private:
  LayerForward forward_pass(std::size_t layer, const Tensor& x,
                            const Activations& activations) const;

  ParameterStore parameters_;
  std::vector<std::unique_ptr<Layer>> layers_;
  std::vector<std::vector<int>> sources_;  // by layer
  BackwardPlan plan_;
  DType compute_ = DType::F32;
};

}  // namespace acgan
