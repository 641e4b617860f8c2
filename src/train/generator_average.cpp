#include "train/generator_average.h"

namespace acgan {

GeneratorAverage::GeneratorAverage(Backend& backend, const AcganShape& shape, DType compute,
                                   const EmaOptions& options)
    : options_(options) {
  build_generator(network_, shape);
  network_.allocate(backend, compute);
}

void GeneratorAverage::start_from(const Network& generator) {
  const ParameterStore& from = generator.parameters();
  ParameterStore& to = network_.parameters();
  to.backend().copy(from.flat_master(), to.flat_master());
  to.backend().copy(from.flat_statistics(), to.flat_statistics());
  refresh();
}

void GeneratorAverage::advance(const Network& generator, const OptimizerState* state) {
  const ParameterStore& from = generator.parameters();
  const ParameterStore& to = network_.parameters();
  const auto take_in = [&](const Tensor& value, const Tensor& average) {
    to.backend().ema_step({.value = value,
                           .average = average,
                           .decay = options_.decay,
                           .ramp_up = options_.ramp_up,
                           .state = state});
  };
  take_in(from.flat_master(), to.flat_master());
  take_in(from.flat_statistics(), to.flat_statistics());
}

}  // namespace acgan
