#include "nn/batch_norm.h"

namespace acgan {
namespace {

// Weight of a batch in the running statistics.
constexpr float kMomentum = 0.1f;

Tensor statistic_of(const Tensor& saved, std::int64_t group) {
  return saved.slice(group, 1).reshaped({saved.row_size()});
}

}  // namespace

BatchNorm::BatchNorm(ParameterStore& store, const std::string& name, const Shape& shape,
                     Activation activation)
    : Layer(name),
      shape_(shape),
      activation_(activation),
      gamma_(store.add(name + ".gamma", {features()}, Initializer::One, ParameterKind::Vector)),
      beta_(store.add(name + ".beta", {features()}, Initializer::Zero, ParameterKind::Vector)),
      running_mean_(store.add_statistic(name + ".running_mean", {features()}, Initializer::Zero)),
      running_variance_(
          store.add_statistic(name + ".running_variance", {features()}, Initializer::One)) {}

void BatchNorm::forward(Backend& backend, const ParameterStore& parameters,
                        const LayerForward& pass) const {
  const std::int64_t rows = pass.x.rows() / pass.groups;
  for (std::int64_t group = 0; group < pass.groups; ++group) {
    backend.batch_norm_forward({.x = pass.x.slice(group * rows, rows),
                                .gamma = parameters.master(gamma_),
                                .beta = parameters.master(beta_),
                                .activation = activation_,
                                .y = pass.y.slice(group * rows, rows),
                                .mean = statistic_of(pass.saved[0], group),
                                .variance = statistic_of(pass.saved[1], group)});
  }
}

void BatchNorm::infer(Backend& backend, const ParameterStore& parameters,
                      const LayerForward& pass) const {
  backend.batch_norm_apply(pass.x, parameters.master(gamma_), parameters.master(beta_),
                           parameters.statistic(running_mean_),
                           parameters.statistic(running_variance_), activation_, pass.y);
}

void BatchNorm::backward(Backend& backend, const ParameterStore& parameters,
                         const LayerBackward& pass) const {
  for (std::int64_t j = 0; j < pass.cotangents(); ++j) {
    const std::int64_t group = pass.group_of[static_cast<std::size_t>(j)];
    const Tensor dy = pass.cotangent_slice(pass.dy, j, j + 1);
    const bool wanted = pass.dx && j >= pass.dx_begin;
    BatchNormBackward arguments{
        .x = pass.group_slice(pass.x, j, j + 1),
        .dy = dy,
        .gamma = parameters.master(gamma_),
        .beta = parameters.master(beta_),
        .mean = statistic_of(pass.saved[0], group),
        .variance = statistic_of(pass.saved[1], group),
        .activation = activation_,
        .dx = wanted ? pass.dx.slice((j - pass.dx_begin) * dy.rows(), dy.rows()) : dy,
        .dgamma = {},
        .dbeta = {}};
    for (const GradientTarget& target : pass.targets) {
      if (j < target.begin || j >= target.end) continue;
      arguments.dgamma = target.gradients->view(gamma_);
      arguments.dbeta = target.gradients->view(beta_);
      arguments.accumulation = j == target.begin ? Accumulation::Overwrite : Accumulation::Add;
    }
    backend.batch_norm_backward(arguments);
  }
}

void BatchNorm::update_running(Backend& backend, const ParameterStore& parameters,
                               std::span<const Tensor> saved, int times,
                               const OptimizerState* state) const {
  for (std::int64_t group = 0; group < saved[0].rows(); ++group) {
    backend.batch_norm_update_running(statistic_of(saved[0], group), statistic_of(saved[1], group),
                                      kMomentum, times, state, parameters.statistic(running_mean_),
                                      parameters.statistic(running_variance_));
  }
}

}  // namespace acgan
