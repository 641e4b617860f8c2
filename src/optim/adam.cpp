#include "optim/adam.h"

#include "backend/finish_step.h"

namespace acgan {

Adam::Share::Share(const ParameterStore& parameters)
    : store(&parameters),
      gradients(parameters),
      m(parameters.backend(), {parameters.flat_count()}, DType::F32),
      v(parameters.backend(), {parameters.flat_count()}, DType::F32) {}

Adam::Adam(Backend& backend, std::string name, std::vector<ParameterStore*> stores,
           const AdamOptions& options)
    : backend_(&backend),
      name_(std::move(name)),
      stores_(std::move(stores)),
      options_(options),
      state_(backend, {static_cast<std::int64_t>(sizeof(OptimizerState))}, DType::U8) {
  for (const ParameterStore* store : stores_) shares_.emplace_back(*store);
  options_.schedule.base = options.learning_rate;
  write_state({.learning_rate = rate_after(0), .loss_scale = options.init_scale});
}

const Adam::Share* Adam::find(const ParameterStore& store) const {
  for (const Share& share : shares_) {
    if (share.store == &store) return &share;
  }
  return nullptr;
}

const GradientStore& Adam::gradients(const ParameterStore& store) const {
  const Share* share = find(store);
  ACGAN_CHECK(share != nullptr);
  return share->gradients;
}

AdamMoments Adam::moments(const ParameterStore& store) const {
  const Share* share = find(store);
  ACGAN_CHECK(share != nullptr);
  return {.gradient = share->gradients.flat(),
          .m = share->m.view(),
          .v = share->v.view(),
          .state = state()};
}

OptimizerState Adam::read_state() const {
  OptimizerState result;
  backend_->download(&result, state_.view());
  return result;
}

void Adam::write_state(const OptimizerState& value) { backend_->upload(state_.view(), &value); }

void Adam::finish_gradients() {
  for (const Share& share : shares_) {
    share.store->backward_to_master(share.gradients.flat());
    backend_->flag_nonfinite(share.gradients.flat(), state());
  }
}

float Adam::rate_after(std::int64_t applied) const {
  return learning_rate_at(options_.schedule, applied);
}

void Adam::finish() {
  backend_->finish_step(state(), options_.constants, options_.policy, options_.schedule);
}

std::size_t Adam::bytes() const {
  std::size_t bytes = 0;
  for (const Share& share : shares_) bytes += 3 * share.m.view().bytes();
  return bytes;
}

void update_parameters(ParameterStore& store, std::span<Adam* const> optimizers) {
  std::vector<AdamMoments> moments;
  std::vector<const OptimizerState*> states;
  for (const Adam* optimizer : optimizers) {
    moments.push_back(optimizer->moments(store));
    states.push_back(optimizer->state());
  }
  store.backend().adam_step({.master = store.flat_master(),
                             .working = store.flat_working(),
                             .optimizers = moments,
                             .constants = optimizers.front()->options().constants});
  store.follow_update(states);
}

}  // namespace acgan
