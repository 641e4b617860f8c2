#pragma once

#include <string>
#include <vector>

#include "nn/parameter_store.h"

namespace acgan {

struct AdamOptions {
  AdamConstants constants;
  float learning_rate = 2e-4f;
  LossScalePolicy policy;
  float init_scale = 1.0f;        // first loss scale
  LearningRateSchedule schedule;  // its `base` is learning_rate
};

// One optimiser (D, G or Q): gradients, first and second moments over the stores that it trains,
// and on the device the ageing and the loss scaler. A step is finish_gradients(),
// update_parameters() over every store, finish().
class Adam {
 public:
  Adam(Backend& backend, std::string name, std::vector<ParameterStore*> stores,
       const AdamOptions& options);

  const std::string& name() const { return name_; }
  const AdamOptions& options() const { return options_; }
  const std::vector<ParameterStore*>& stores() const { return stores_; }

  bool trains(const ParameterStore& store) const { return find(store) != nullptr; }
  const GradientStore& gradients(const ParameterStore& store) const;
  AdamMoments moments(const ParameterStore& store) const;

  OptimizerState* state() const { return static_cast<OptimizerState*>(state_.view().data); }
  OptimizerState read_state() const;
  float rate_after(std::int64_t applied) const;  // the learning rate after so many applied steps
  void write_state(const OptimizerState& value);

  // Gradients as operations leave them become those of the master weights, and the state hears of
  // Inf and NaN in them.
  void finish_gradients();
  void finish();
  std::size_t bytes() const;  // moments and gradients

 private:
  struct Share {
    explicit Share(const ParameterStore& parameters);

    const ParameterStore* store;
    GradientStore gradients;
    OwnedTensor m, v;
  };

  const Share* find(const ParameterStore& store) const;

  Backend* backend_;
  std::string name_;
  std::vector<ParameterStore*> stores_;
  AdamOptions options_;
  std::vector<Share> shares_;
  OwnedTensor state_;
};

// One pass over a store's parameters for all optimisers that train it, applied in the order given.
void update_parameters(ParameterStore& store, std::span<Adam* const> optimizers);

}  // namespace acgan
