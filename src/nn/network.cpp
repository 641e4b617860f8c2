#include "nn/network.h"

#include <algorithm>

namespace acgan {
namespace {

// The same rows seen with a layer's own shape: [N,F] is [N,H,W,C] to a layer that wants images.
Tensor with_row_shape(const Tensor& t, const Shape& row) {
  return t.reshaped(with_rows(t.rows(), row));
}

}  // namespace

Activations::Activations(const Network& network, std::int64_t rows, std::int64_t groups,
                         const Tensor& output)
    : groups_(groups) {
  Backend& backend = network.parameters().backend();
  for (const auto& layer : network.layers()) {
    const Shape shape = with_rows(groups * rows, layer->output_shape());
    if (layer == network.layers().back() && output) {
      ACGAN_CHECK(output.count() == shape.count());
      outputs_.push_back(output);
    } else {
      memory_.emplace_back(backend, shape, layer->output_dtype(network.compute()));
      outputs_.push_back(memory_.back().view());
    }
    saved_.emplace_back();
    for (const Shape& saved : layer->saved_shapes()) {
      memory_.emplace_back(backend, with_rows(groups, saved), DType::F32);
      saved_.back().push_back(memory_.back().view());
    }
  }
}

Activations Activations::in_place_of(std::int64_t groups) const {
  ACGAN_CHECK(groups <= groups_);
  Activations part(groups);
  for (const Tensor& output : outputs_) {
    part.outputs_.push_back(output.slice(0, output.rows() / groups_ * groups));
  }
  for (const std::vector<Tensor>& saved : saved_) {
    part.saved_.emplace_back();
    for (const Tensor& tensor : saved) part.saved_.back().push_back(tensor.slice(0, groups));
  }
  return part;
}

std::size_t Activations::bytes() const {
  std::size_t bytes = 0;
  for (const OwnedTensor& tensor : memory_) bytes += tensor.view().bytes();
  return bytes;
}

void GradientScratch::reserve(const Network& network, std::int64_t rows) {
  slot_count_ = std::max(slot_count_, static_cast<std::size_t>(network.backward_plan().slots));
  const auto make_room = [&](const Shape& row) {
    const auto count = static_cast<std::size_t>(rows * row.count());
    slot_bytes_ = std::max(slot_bytes_, count * size_of(network.compute()));
  };
  for (std::size_t i = 0; i < network.layers().size(); ++i) {
    const Layer& layer = *network.layers()[i];
    if (static_cast<int>(i) != network.newest()) make_room(layer.output_shape());
    for (const GradientStep& step : network.backward_plan().inputs[i]) {
      if (step.adds() && step.sum == kInputGradient) make_room(layer.input_shape());
    }
  }
}

void GradientScratch::allocate(Backend& backend) {
  for (std::size_t i = 0; i < slot_count_; ++i) slots_.emplace_back(backend, slot_bytes_);
}

int Network::append(std::unique_ptr<Layer> layer, std::vector<int> sources) {
  ACGAN_CHECK(static_cast<int>(sources.size()) == layer->inputs());
  for (const int source : sources) {
    ACGAN_CHECK(source >= kNetworkInput && source <= newest());
    if (source == kNetworkInput) continue;
    const Layer& read = *layers_[static_cast<std::size_t>(source)];
    ACGAN_CHECK(read.output_shape().count() == layer->input_shape().count());
  }
  layers_.push_back(std::move(layer));
  sources_.push_back(std::move(sources));
  return newest();
}

void Network::allocate(Backend& backend, DType compute) {
  compute_ = compute;
  parameters_.allocate(backend, compute);
  std::vector<PlannedLayer> planned;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    planned.push_back({.sources = sources_[i], .works_in_place = layers_[i]->works_in_place()});
  }
  plan_ = plan_backward(planned);
}

// What a layer reads and writes; `x` is the network's input.
LayerForward Network::forward_pass(std::size_t layer, const Tensor& x,
                                   const Activations& activations) const {
  const auto read = [&](std::size_t input) {
    const int source = sources_[layer][input];
    const Tensor& output =
        source == kNetworkInput ? x : activations.outputs_[static_cast<std::size_t>(source)];
    return with_row_shape(output, layers_[layer]->input_shape());
  };
  return {.x = read(0),
          .x_second = sources_[layer].size() > 1 ? read(1) : Tensor{},
          .y = activations.outputs_[layer],
          .saved = activations.saved_[layer],
          .groups = activations.groups_};
}

void Network::forward(const Tensor& x, Activations& activations) const {
  activations.input_ = x;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    layers_[i]->forward(parameters_.backend(), parameters_, forward_pass(i, x, activations));
  }
}

void Network::infer(const Tensor& x, Activations& activations) const {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    layers_[i]->infer(parameters_.backend(), parameters_, forward_pass(i, x, activations));
  }
}

void Network::backward(const Activations& activations, const GradientScratch& scratch,
                       const NetworkBackward& request) const {
  const std::int64_t rows = request.dy.rows();
  const auto cotangents = static_cast<std::int64_t>(request.group_of.size());
  const std::int64_t input_rows = rows / cotangents * (cotangents - request.dx_begin);
  const auto at = [&](int place, const Shape& row, std::int64_t row_count) {
    if (place == kOutputGradient) return with_row_shape(request.dy, row);
    if (place == kInputGradient) return with_row_shape(request.dx, row);
    return Tensor{scratch.slot(place), with_rows(row_count, row), compute_};
  };
  for (std::size_t i = layers_.size(); i-- > 0;) {
    const Layer& layer = *layers_[i];
    const LayerForward read = forward_pass(i, activations.input_, activations);
    LayerBackward pass{.x = read.x,
                       .y = read.y,
                       .saved = read.saved,
                       .dy = at(plan_.gradient[i], layer.output_shape(), rows),
                       .dx = {},
                       .groups = activations.groups_,
                       .group_of = request.group_of,
                       .targets = request.targets};
    Tensor sums[2];
    for (std::size_t k = 0; k < sources_[i].size(); ++k) {
      const bool is_input = sources_[i][k] == kNetworkInput;
      if (is_input && !request.dx) continue;
      const GradientStep& step = plan_.inputs[i][k];
      const std::int64_t row_count = is_input ? input_rows : rows;
      (k == 0 ? pass.dx : pass.dx_second) = at(step.place, layer.input_shape(), row_count);
      if (step.adds()) sums[k] = at(step.sum, layer.input_shape(), row_count);
      if (!is_input) continue;
      pass.dx_begin = request.dx_begin;
      if (!step.adds()) pass.dx_accumulation = request.dx_accumulation;
    }
    layer.backward(parameters_.backend(), parameters_, pass);
    if (sums[0]) parameters_.backend().add(sums[0], pass.dx, sums[0]);
    if (sums[1]) parameters_.backend().add(sums[1], pass.dx_second, sums[1]);
  }
}

void Network::update_running(const Activations& activations, int times,
                             const OptimizerState* state) const {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    layers_[i]->update_running(parameters_.backend(), parameters_, activations.saved_[i], times,
                               state);
  }
}

double Network::forward_flops() const {
  double flops = 0;
  for (const auto& layer : layers_) flops += layer->forward_flops();
  return flops;
}

}  // namespace acgan
