#include "train/first_nonfinite.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/format.h"

namespace acgan {
namespace {

bool is_finite(Backend& backend, const Tensor& tensor) {
  return visit_dtype(tensor.dtype, [&]<typename T>(T) {
    std::vector<T> host(static_cast<std::size_t>(tensor.count()));
    backend.download(host.data(), tensor);
    return std::all_of(host.begin(), host.end(),
                       [](T value) { return std::isfinite(to_float(value)); });
  });
}

bool has_finite_weights(Backend& backend, const ParameterStore& store, const std::string& layer) {
  for (int i = 0; i < store.parameters(); ++i) {
    if (!store.parameter_name(i).starts_with(layer + ".")) continue;
    if (!is_finite(backend, store.master(i))) return false;
  }
  return true;
}

std::string first_output(const TrainStep& step) {
  Backend& backend = step.backend();
  for (const TrainStep::Pass& pass : step.passes()) {
    const ParameterStore& store = pass.network->parameters();
    const auto& layers = pass.network->layers();
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (is_finite(backend, pass.activations->outputs()[i])) continue;
      const std::string name = store.prefix() + "." + layers[i]->name();
      const char* const whose = !is_finite(backend, step.latents()) ? " (its latents hold them)"
                                : has_finite_weights(backend, store, name)
                                    ? " (its weights are finite)"
                                    : " (its weights hold them too)";
      return fmt::format("the first layer with Inf or NaN in its output is {}{}", name, whose);
    }
  }
  return {};
}

std::string first_gradient(const TrainStep& step) {
  for (const auto& optimizer : step.optimizers()) {
    const std::vector<ParameterStore*>& stores = optimizer->stores();
    for (std::size_t s = stores.size(); s-- > 0;) {
      const GradientStore& gradients = optimizer->gradients(*stores[s]);
      for (int i = stores[s]->parameters(); i-- > 0;) {
        if (is_finite(step.backend(), gradients.view(i))) continue;
        return fmt::format(
            "every layer's output is finite, and the first gradient with Inf or NaN is that of {} "
            "(optimizer {})",
            stores[s]->parameter_name(i), optimizer->name());
      }
    }
  }
  return {};
}

}  // namespace

std::string first_nonfinite(const TrainStep& step) {
  const std::string output = first_output(step);
  return output.empty() ? first_gradient(step) : output;
}

}  // namespace acgan
