#include "bench/step_operations.h"

#include <memory>

#include "backend/blank_backend.h"

namespace acgan {
namespace {

// "discriminator.conv1" of "discriminator.conv1.weight"
std::string layer_of(const std::string& parameter) {
  return parameter.substr(0, parameter.rfind('.'));
}

std::string network_of(const ParameterStore& store) {
  const std::string& name = store.parameter_name(0);
  return name.substr(0, name.find('.'));
}

void name_store(ProfilingBackend& profile, const ParameterStore& store) {
  profile.name_memory(store.flat_master(), network_of(store));
  if (store.flat_working()) profile.name_memory(store.flat_working(), network_of(store));
  for (int i = 0; i < store.parameters(); ++i) {
    profile.name_memory(store.master(i), layer_of(store.parameter_name(i)));
    profile.name_memory(store.working(i), layer_of(store.parameter_name(i)));
  }
  for (int i = 0; i < store.statistics(); ++i) {
    profile.name_memory(store.statistic(i), layer_of(store.statistic_name(i)));
  }
}

void name_gradients(ProfilingBackend& profile, const GradientStore& gradients) {
  const ParameterStore& store = gradients.parameters();
  profile.name_memory(gradients.flat(), network_of(store));
  for (int i = 0; i < store.parameters(); ++i) {
    profile.name_memory(gradients.view(i), layer_of(store.parameter_name(i)));
  }
}

}  // namespace

void name_layers(ProfilingBackend& profile, const TrainStep& step) {
  for (const Network* network : step.model().networks()) {
    name_store(profile, network->parameters());
  }
  for (const auto& optimizer : step.optimizers()) {
    for (const ParameterStore* store : optimizer->stores()) {
      name_gradients(profile, optimizer->gradients(*store));
    }
  }
}

std::vector<OperationTotals> step_operations(const TrainStepOptions& options) {
  ProfilingBackend profile(std::make_unique<BlankBackend>());
  const AcganShape& shape = options.shape;
  const OwnedTensor images(
      profile, {options.batch, shape.image_size, shape.image_size, shape.channels}, DType::U8);
  const OwnedTensor labels(profile, {options.batch}, DType::I32);
  TrainStep step(profile, options);
  name_layers(profile, step);
  profile.reset();
  const std::vector<std::int32_t> indices(static_cast<std::size_t>(options.batch), 0);
  step.load_step([&] { step.load_batch(images.view(), labels.view(), indices); });
  step.run();
  return profile.operations();
}

}  // namespace acgan
