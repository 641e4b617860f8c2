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
  for (const auto& layer : network.layers()) {
    if (layer == network.layers().back()) break;
    const auto count = static_cast<std::size_t>(rows * layer->output_shape().count());
    half_bytes_ = std::max(half_bytes_, count * size_of(network.compute()));
  }
}

void GradientScratch::allocate(Backend& backend) {
  for (Buffer& half : halves_) half = Buffer(backend, half_bytes_);
}

void Network::append(std::unique_ptr<Layer> layer) {
  if (!layers_.empty()) {
    ACGAN_CHECK(layers_.back()->output_shape().count() == layer->input_shape().count());
  }
  layers_.push_back(std::move(layer));
}

void Network::allocate(Backend& backend, DType compute) {
  compute_ = compute;
  parameters_.allocate(backend, compute);
}

void Network::forward(const Tensor& x, Activations& activations) const {
  activations.input_ = x;
  Tensor input = x;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    layers_[i]->forward(parameters_.backend(), parameters_,
                        {.x = with_row_shape(input, layers_[i]->input_shape()),
                         .y = activations.outputs_[i],
                         .saved = activations.saved_[i],
                         .groups = activations.groups_});
    input = activations.outputs_[i];
  }
}

void Network::infer(const Tensor& x, Activations& activations) const {
  Tensor input = x;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    layers_[i]->infer(parameters_.backend(), parameters_,
                      with_row_shape(input, layers_[i]->input_shape()), activations.outputs_[i]);
    input = activations.outputs_[i];
  }
}

void Network::backward(const Activations& activations, const GradientScratch& scratch,
                       const NetworkBackward& request) const {
  Tensor dy = request.dy;
  std::size_t free = 0;  // the scratch buffer that dy does not lie in
  for (std::size_t i = layers_.size(); i-- > 0;) {
    const Layer& layer = *layers_[i];
    const Tensor& input = i == 0 ? activations.input_ : activations.outputs_[i - 1];
    dy = with_row_shape(dy, layer.output_shape());
    LayerBackward pass{.x = with_row_shape(input, layer.input_shape()),
                       .y = activations.outputs_[i],
                       .saved = activations.saved_[i],
                       .dy = dy,
                       .dx = {},
                       .groups = activations.groups_,
                       .group_of = request.group_of,
                       .targets = request.targets};
    if (i == 0) {
      if (request.dx) pass.dx = with_row_shape(request.dx, layer.input_shape());
      pass.dx_begin = request.dx_begin;
      pass.dx_accumulation = request.dx_accumulation;
    } else if (layer.works_in_place()) {
      pass.dx = dy;
    } else {
      pass.dx = Tensor{scratch.half(free), with_rows(dy.rows(), layer.input_shape()), compute_};
      free = 1 - free;
    }
    layer.backward(parameters_.backend(), parameters_, pass);
    dy = pass.dx;
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
