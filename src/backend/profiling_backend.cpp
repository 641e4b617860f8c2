#include "backend/profiling_backend.h"

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <utility>
#include <vector>

#include "backend/kept_work.h"
#include "base/error.h"

namespace acgan {
namespace {

using Clock = std::chrono::steady_clock;

double bytes_of(std::initializer_list<Tensor> tensors) {
  double sum = 0.0;
  for (const Tensor& tensor : tensors) {
    if (tensor) sum += static_cast<double>(tensor.bytes());
  }
  return sum;
}

// What is added to is read as well.
double bytes_written(const Tensor& tensor, Accumulation accumulation) {
  return bytes_of({tensor}) * (accumulation == Accumulation::Add ? 2.0 : 1.0);
}

double conv_flops(const ConvGeometry& g, std::int64_t images) {
  const std::int64_t products = images * g.out_h * g.out_w * g.out_c * g.kernel * g.kernel * g.in_c;
  return 2.0 * static_cast<double>(products);
}

double dense_flops(const Tensor& w, std::int64_t rows) {
  return 2.0 * static_cast<double>(w.count() * rows);
}

}  // namespace

ProfilingBackend::ProfilingBackend(std::unique_ptr<Backend> backend)
    : backend_(std::move(backend)) {
  ACGAN_CHECK(backend_ != nullptr);
}

void ProfilingBackend::name_memory(const Tensor& memory, const std::string& layer) {
  const auto* const begin = static_cast<const std::byte*>(memory.data);
  const auto known = std::ranges::find_if(names_, [&](const NamedMemory& named) {
    return named.begin == begin && named.bytes == memory.bytes();
  });
  if (known == names_.end()) {
    names_.push_back({begin, memory.bytes(), layer});
  } else {
    known->layer = layer;
  }
}

std::string ProfilingBackend::layer_at(const Tensor& memory) const {
  const NamedMemory* smallest = nullptr;
  const auto* const begin = static_cast<const std::byte*>(memory.data);
  for (const NamedMemory& named : names_) {
    if (!memory || begin < named.begin || begin + memory.bytes() > named.begin + named.bytes) {
      continue;
    }
    if (smallest == nullptr || named.bytes < smallest->bytes) smallest = &named;
  }
  return smallest == nullptr ? "" : smallest->layer;
}

// What a layer wrote is its memory as well, where that has no weights to be told by.
void ProfilingBackend::inherit_layer(const Tensor& from, const Tensor& to) {
  if (const std::string layer = layer_at(from); !layer.empty()) name_memory(to, layer);
}

OperationTotals& ProfilingBackend::totals_of(std::string_view operation, const Use& use) {
  const Tensor& shaped = use.shaped;
  std::string layer = layer_at(use.owner);
  const std::string key =
      fmt::format("{} {} {} {}", operation, name_of(shaped.dtype), shaped.shape.text(), layer);
  const auto [place, is_new] = places_.emplace(key, totals_.size());
  if (is_new) {
    totals_.emplace_back();
    totals_.back().operation = operation;
    totals_.back().layer = std::move(layer);
    totals_.back().dtype = shaped.dtype;
    totals_.back().shape = shaped.shape;
  }
  return totals_[place->second];
}

template <typename Call>
void ProfilingBackend::measure(std::string_view operation, const Use& use, const Work& work,
                               Call&& call) {
  OperationTotals& totals = totals_of(operation, use);
  const Clock::time_point start = Clock::now();
  call();
  backend_->synchronize();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  ++totals.calls;
  const auto add_to = [&](auto& sums) {
    sums.seconds += seconds;
    sums.flops += work.flops;
    sums.bytes += work.bytes;
  };
  add_to(totals);
  add_to(phases_[static_cast<std::size_t>(phase_)]);
}

void ProfilingBackend::reset() {
  totals_.clear();
  places_.clear();
  phases_ = {};
}

void ProfilingBackend::upload(const Tensor& destination, const void* host) {
  measure("upload", {destination}, {.bytes = bytes_of({destination})},
          [&] { backend_->upload(destination, host); });
}

void ProfilingBackend::download(void* host, const Tensor& source) {
  measure("download", {source}, {.bytes = bytes_of({source})},
          [&] { backend_->download(host, source); });
}

void ProfilingBackend::copy(const Tensor& source, const Tensor& destination) {
  measure("copy", {destination}, {.bytes = bytes_of({source, destination})},
          [&] { backend_->copy(source, destination); });
}

void ProfilingBackend::zero(const Tensor& destination) {
  measure("zero", {destination}, {.bytes = bytes_of({destination})},
          [&] { backend_->zero(destination); });
}

std::unique_ptr<CapturedWork> ProfilingBackend::capture(std::function<void()> work) {
  return std::make_unique<KeptWork>(std::move(work));
}

void ProfilingBackend::cast(const Tensor& source, const Tensor& destination) {
  measure("cast", {destination}, {.bytes = bytes_of({source, destination})},
          [&] { backend_->cast(source, destination); });
}

void ProfilingBackend::conv2d_forward(const ConvGeometry& geometry, const Tensor& x,
                                      const Tensor& w, const Tensor& bias, Activation activation,
                                      const Tensor& y) {
  measure("conv2d_forward", {y, w},
          {.flops = conv_flops(geometry, x.rows()), .bytes = bytes_of({x, w, bias, y})},
          [&] { backend_->conv2d_forward(geometry, x, w, bias, activation, y); });
  inherit_layer(w, y);
}

void ProfilingBackend::conv2d_backward_data(const ConvGeometry& geometry, const Tensor& dy,
                                            const Tensor& w, const Tensor& bias, const Tensor& dx) {
  measure("conv2d_backward_data", {dx, w},
          {.flops = conv_flops(geometry, dy.rows()), .bytes = bytes_of({dy, w, bias, dx})},
          [&] { backend_->conv2d_backward_data(geometry, dy, w, bias, dx); });
  if (bias) inherit_layer(w, dx);  // forward through a transposed convolution
}

void ProfilingBackend::conv2d_backward_weight(const ConvGeometry& geometry, const Tensor& x,
                                              const Tensor& dy, const Tensor& dw,
                                              Accumulation accumulation) {
  measure("conv2d_backward_weight", {x, dw},
          {.flops = conv_flops(geometry, x.rows()),
           .bytes = bytes_of({x, dy}) + bytes_written(dw, accumulation)},
          [&] { backend_->conv2d_backward_weight(geometry, x, dy, dw, accumulation); });
}

void ProfilingBackend::dense_forward(const Tensor& x, const Tensor& w, const Tensor& bias,
                                     const Tensor& y) {
  measure(fmt::format("dense_forward {}->", w.row_size()), {y, w},
          {.flops = dense_flops(w, x.rows()), .bytes = bytes_of({x, w, bias, y})},
          [&] { backend_->dense_forward(x, w, bias, y); });
}

void ProfilingBackend::dense_backward_data(const Tensor& dy, const Tensor& w, const Tensor& dx,
                                           Accumulation accumulation) {
  measure(fmt::format("dense_backward_data {}->", w.rows()), {dx, w},
          {.flops = dense_flops(w, dy.rows()),
           .bytes = bytes_of({dy, w}) + bytes_written(dx, accumulation)},
          [&] { backend_->dense_backward_data(dy, w, dx, accumulation); });
}

void ProfilingBackend::dense_backward_weight(const Tensor& x, const Tensor& dy, const Tensor& dw,
                                             Accumulation accumulation) {
  measure(fmt::format("dense_backward_weight {} rows", x.rows()), {dw, dw},
          {.flops = dense_flops(dw, x.rows()),
           .bytes = bytes_of({x, dy}) + bytes_written(dw, accumulation)},
          [&] { backend_->dense_backward_weight(x, dy, dw, accumulation); });
}

void ProfilingBackend::bias_backward(const Tensor& dy, const Tensor& db,
                                     Accumulation accumulation) {
  measure("bias_backward", {dy, db}, {.bytes = bytes_of({dy}) + bytes_written(db, accumulation)},
          [&] { backend_->bias_backward(dy, db, accumulation); });
}

void ProfilingBackend::weights_updated(const Tensor& w) {
  measure("weights_updated", {w, w}, {}, [&] { backend_->weights_updated(w); });
}

void ProfilingBackend::batch_norm_forward(const BatchNormForward& arguments) {
  measure("batch_norm_forward", {arguments.x, arguments.gamma},
          {.bytes = bytes_of({arguments.x, arguments.gamma, arguments.beta, arguments.y,
                              arguments.mean, arguments.variance})},
          [&] { backend_->batch_norm_forward(arguments); });
}

void ProfilingBackend::batch_norm_backward(const BatchNormBackward& arguments) {
  measure("batch_norm_backward", {arguments.x, arguments.gamma},
          {.bytes = bytes_of({arguments.x, arguments.dy, arguments.gamma, arguments.beta,
                              arguments.mean, arguments.variance, arguments.dx}) +
                    bytes_written(arguments.dgamma, arguments.accumulation) +
                    bytes_written(arguments.dbeta, arguments.accumulation)},
          [&] { backend_->batch_norm_backward(arguments); });
}

void ProfilingBackend::batch_norm_update_running(const Tensor& mean, const Tensor& variance,
                                                 float momentum, int times,
                                                 const OptimizerState* state,
                                                 const Tensor& running_mean,
                                                 const Tensor& running_variance) {
  const double bytes = bytes_of({mean, variance}) + bytes_written(running_mean, Accumulation::Add) +
                       bytes_written(running_variance, Accumulation::Add);
  measure("batch_norm_update_running", {mean, running_mean}, {.bytes = bytes}, [&] {
    backend_->batch_norm_update_running(mean, variance, momentum, times, state, running_mean,
                                        running_variance);
  });
}

void ProfilingBackend::batch_norm_apply(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                                        const Tensor& running_mean, const Tensor& running_variance,
                                        Activation activation, const Tensor& y) {
  measure("batch_norm_apply", {x, gamma},
          {.bytes = bytes_of({x, gamma, beta, running_mean, running_variance, y})}, [&] {
            backend_->batch_norm_apply(x, gamma, beta, running_mean, running_variance, activation,
                                       y);
          });
}

void ProfilingBackend::activation_forward(const Tensor& x, Activation activation, const Tensor& y) {
  measure("activation_forward", {x, x}, {.bytes = bytes_of({x, y})},
          [&] { backend_->activation_forward(x, activation, y); });
  inherit_layer(x, y);
}

void ProfilingBackend::activation_backward(const Tensor& y, const Tensor& dy, Activation activation,
                                           const Tensor& dx) {
  measure("activation_backward", {y, y}, {.bytes = bytes_of({y, dy, dx})},
          [&] { backend_->activation_backward(y, dy, activation, dx); });
}

void ProfilingBackend::sigmoid_forward(const Tensor& x, const Tensor& y) {
  measure("sigmoid_forward", {x, x}, {.bytes = bytes_of({x, y})},
          [&] { backend_->sigmoid_forward(x, y); });
  inherit_layer(x, y);
}

void ProfilingBackend::sigmoid_backward(const Tensor& y, const Tensor& dy, const Tensor& dx) {
  measure("sigmoid_backward", {y, y}, {.bytes = bytes_of({y, dy, dx})},
          [&] { backend_->sigmoid_backward(y, dy, dx); });
}

void ProfilingBackend::add(const Tensor& a, const Tensor& b, const Tensor& y) {
  measure("add", {a, a}, {.bytes = bytes_of({a, b, y})}, [&] { backend_->add(a, b, y); });
  inherit_layer(a, y);
}

void ProfilingBackend::pool2(const Tensor& large, float scale, const Tensor& small) {
  measure("pool2", {large, large}, {.bytes = bytes_of({large, small})},
          [&] { backend_->pool2(large, scale, small); });
  inherit_layer(large, small);
}

void ProfilingBackend::unpool2(const Tensor& small, float scale, const Tensor& large) {
  measure("unpool2", {large, small}, {.bytes = bytes_of({small, large})},
          [&] { backend_->unpool2(small, scale, large); });
  inherit_layer(small, large);
}

void ProfilingBackend::concat_one_hot(const Tensor& z, const Tensor& labels, const Tensor& y) {
  measure("concat_one_hot", {y}, {.bytes = bytes_of({z, labels, y})},
          [&] { backend_->concat_one_hot(z, labels, y); });
}

void ProfilingBackend::random_uniform(const RandomState* state, RandomStream stream,
                                      const Tensor& destination) {
  measure("random_uniform", {destination}, {.bytes = bytes_of({destination})},
          [&] { backend_->random_uniform(state, stream, destination); });
}

void ProfilingBackend::advance_random(RandomState* state) {
  measure("advance_random", {}, {}, [&] { backend_->advance_random(state); });
}

void ProfilingBackend::draw_labels(const RandomState* state, std::int64_t classes,
                                   const Tensor& destination) {
  measure("draw_labels", {destination}, {.bytes = bytes_of({destination})},
          [&] { backend_->draw_labels(state, classes, destination); });
}

void ProfilingBackend::flip_images(const RandomState* state, const Tensor& images) {
  measure("flip_images", {images}, {.bytes = bytes_written(images, Accumulation::Add)},
          [&] { backend_->flip_images(state, images); });
}

void ProfilingBackend::augment(const AugmentationDraw& draw, const Tensor& x, const Tensor& y) {
  measure("augment", {y}, {.bytes = bytes_of({x, y})}, [&] { backend_->augment(draw, x, y); });
}

void ProfilingBackend::augment_backward(const AugmentationDraw& draw, const Tensor& dy,
                                        const Tensor& dx) {
  measure("augment_backward", {dx}, {.bytes = bytes_of({dy, dx})},
          [&] { backend_->augment_backward(draw, dy, dx); });
}

void ProfilingBackend::bce_with_logits(const Tensor& logits, float target,
                                       const LossResult& result) {
  measure("bce_with_logits", {logits}, {.bytes = bytes_of({logits, result.gradient})},
          [&] { backend_->bce_with_logits(logits, target, result); });
}

void ProfilingBackend::hinge_loss(const Tensor& logits, SourceTerm term, const LossResult& result) {
  measure("hinge_loss", {logits}, {.bytes = bytes_of({logits, result.gradient})},
          [&] { backend_->hinge_loss(logits, term, result); });
}

void ProfilingBackend::softmax_cross_entropy(const Tensor& logits, const Tensor& labels,
                                             const LossResult& result, float* correct) {
  measure("softmax_cross_entropy", {logits}, {.bytes = bytes_of({logits, labels, result.gradient})},
          [&] { backend_->softmax_cross_entropy(logits, labels, result, correct); });
}

void ProfilingBackend::flag_nonfinite(const Tensor& gradient, OptimizerState* state) {
  measure("flag_nonfinite", {gradient, gradient}, {.bytes = bytes_of({gradient})},
          [&] { backend_->flag_nonfinite(gradient, state); });
}

void ProfilingBackend::adam_step(const AdamUpdate& update) {
  double bytes = bytes_written(update.master, Accumulation::Add) + bytes_of({update.working});
  for (const AdamMoments& moments : update.optimizers) {
    bytes += bytes_of({moments.gradient}) + bytes_written(moments.m, Accumulation::Add) +
             bytes_written(moments.v, Accumulation::Add);
  }
  measure(fmt::format("adam_step x{}", update.optimizers.size()), {update.master, update.master},
          {.bytes = bytes}, [&] { backend_->adam_step(update); });
}

void ProfilingBackend::ema_step(const EmaUpdate& update) {
  measure("ema_step", {update.average, update.value},
          {.bytes = bytes_of({update.value}) + bytes_written(update.average, Accumulation::Add)},
          [&] { backend_->ema_step(update); });
}

void ProfilingBackend::spectral_normalize(const SpectralNormalization& arguments) {
  const SpectralWeight& weight = arguments.weight;
  const double iteration =
      bytes_of({weight.master, weight.master}) + 2.0 * bytes_of({weight.u, weight.v, weight.sigma});
  measure("spectral_normalize", {weight.master, weight.master},
          {.bytes = static_cast<double>(arguments.power_iterations) * iteration +
                    bytes_of({weight.master, arguments.working})},
          [&] { backend_->spectral_normalize(arguments); });
}

void ProfilingBackend::spectral_norm_backward(const SpectralWeight& weight,
                                              const Tensor& gradient) {
  measure("spectral_norm_backward", {gradient, gradient},
          {.bytes = bytes_of({weight.master, gradient, weight.u, weight.v, weight.sigma}) +
                    bytes_written(gradient, Accumulation::Add)},
          [&] { backend_->spectral_norm_backward(weight, gradient); });
}

void ProfilingBackend::finish_step(OptimizerState* state, const AdamConstants& constants,
                                   const LossScalePolicy& policy,
                                   const LearningRateSchedule& schedule) {
  measure("finish_step", {}, {},
          [&] { backend_->finish_step(state, constants, policy, schedule); });
}

void ProfilingBackend::gather_images(const Tensor& images, const Tensor& indices, float divisor,
                                     const Tensor& destination) {
  const double read = static_cast<double>(destination.count());  // one byte for each element
  measure("gather_images", {destination}, {.bytes = read + bytes_of({indices, destination})},
          [&] { backend_->gather_images(images, indices, divisor, destination); });
}

void ProfilingBackend::gather_labels(const Tensor& labels, const Tensor& indices,
                                     const Tensor& destination) {
  measure("gather_labels", {destination}, {.bytes = 2.0 * bytes_of({destination, indices})},
          [&] { backend_->gather_labels(labels, indices, destination); });
}

}  // namespace acgan
