#include "cuda/cuda_backend.h"

#include "backend/spectral_norm.h"
#include "base/error.h"
#include "cuda/kernels.h"

namespace acgan::cuda {
namespace {

std::size_t rows_of(const Tensor& x) {
  return static_cast<std::size_t>(x.count() / x.shape.back());
}

void check_augmentation(const AugmentationDraw& draw, const Tensor& from, const Tensor& to) {
  ACGAN_CHECK(draw.state != nullptr && from.shape.rank() == 4 && from.shape == to.shape);
  ACGAN_CHECK(from.shape[1] == from.shape[2] && from.dtype == to.dtype && from.data != to.data);
}

class CapturedGraph final : public CapturedWork {
 public:
  CapturedGraph(Device& device, std::unique_ptr<Graph> graph)
      : device_(device), graph_(std::move(graph)) {}
  void run() override { device_.launch(*graph_); }

 private:
  Device& device_;
  std::unique_ptr<Graph> graph_;
};

class PinnedReadback final : public Readback {
 public:
  PinnedReadback(Device& device, std::vector<Tensor> sources)
      : device_(device), sources_(std::move(sources)), event_(device.make_event()) {
    for (const Tensor& source : sources_) size_ += source.bytes();
    pinned_ = device_.allocate_pinned(std::max<std::size_t>(size_, 1));
  }
  ~PinnedReadback() override { device_.release_pinned(pinned_); }
  PinnedReadback(const PinnedReadback&) = delete;
  PinnedReadback& operator=(const PinnedReadback&) = delete;

  void start() override {
    auto* destination = static_cast<std::byte*>(pinned_);
    for (const Tensor& source : sources_) {
      device_.download_later(destination, source.data, source.bytes());
      destination += source.bytes();
    }
    event_->record();
  }
  bool is_ready() const override { return event_->reached(); }
  void wait() override { event_->wait(); }
  std::span<const std::byte> bytes() const override {
    return {static_cast<const std::byte*>(pinned_), size_};
  }
  double milliseconds_since(const Readback& earlier) const override {
    return event_->milliseconds_since(*dynamic_cast<const PinnedReadback&>(earlier).event_);
  }

 private:
  Device& device_;
  std::vector<Tensor> sources_;
  std::size_t size_ = 0;
  void* pinned_ = nullptr;
  std::unique_ptr<Event> event_;
};

void check_convolution(const ConvGeometry& g, const Tensor& x, const Tensor& w, const Tensor& y) {
  ACGAN_CHECK(g.kernel > 0 && g.stride > 0 && g.pad >= 0);
  ACGAN_CHECK(g.in_h + 2 * g.pad >= g.kernel && g.in_w + 2 * g.pad >= g.kernel);
  ACGAN_CHECK(g.out_h == (g.in_h + 2 * g.pad - g.kernel) / g.stride + 1);
  ACGAN_CHECK(g.out_w == (g.in_w + 2 * g.pad - g.kernel) / g.stride + 1);
  ACGAN_CHECK(x.shape == (Shape{x.rows(), g.in_h, g.in_w, g.in_c}));
  ACGAN_CHECK(y.shape == (Shape{x.rows(), g.out_h, g.out_w, g.out_c}));
  ACGAN_CHECK(w.shape == (Shape{g.out_c, g.kernel, g.kernel, g.in_c}));
}

void check_dense(const Tensor& x, const Tensor& w, const Tensor& y) {
  ACGAN_CHECK(x.shape.rank() == 2 && y.shape.rank() == 2 && x.rows() == y.rows());
  ACGAN_CHECK(w.shape == (Shape{y.shape[1], x.shape[1]}));
}

void check_statistics(const Tensor& x, std::initializer_list<Tensor> vectors) {
  for (const Tensor& vector : vectors) {
    ACGAN_CHECK(vector.dtype == DType::F32 && vector.count() == x.shape.back());
  }
}

Tf32 tf32_of(const CudaRequest& request) { return request.allow_tf32 ? Tf32::Allowed : Tf32::Off; }

}  // namespace

CudaBackend::CudaBackend(const CudaRequest& request)
    : device_(open_device(request.ordinal)),
      matrices_(open_matrix_library(*device_, tf32_of(request))),
      scratch_(*device_),
      convolutions_(choose_convolutions(*device_, scratch_, request.conv, tf32_of(request))),
      allow_tf32_(request.allow_tf32) {}

std::string CudaBackend::description() const {
  const DeviceProperties& device = device_->properties();
  return fmt::format(
      "{}, compute capability {}.{}, {} multiprocessors, {} MiB; {}; dense layers by {}{}",
      device.name, device.arch / 10, device.arch % 10, device.multiprocessors,
      device.memory_bytes >> 20, convolutions_->name(), matrices_->name(),
      allow_tf32_ ? "; TF32 allowed" : "");
}

// Tensor cores: fp16 from Volta on (our kernels: from Turing on), bf16 from Ampere on.
bool CudaBackend::computes_in(DType type) const {
  const int arch = device_->properties().arch;
  if (type == DType::F16) return arch >= 75;
  if (type == DType::BF16) return arch >= 80;
  return type == DType::F32;
}

std::string CudaBackend::convolution_note(const ConvGeometry& geometry, DType type) const {
  return convolutions_->note(geometry, type);
}

// ---- memory
void* CudaBackend::allocate(std::size_t bytes) { return device_->allocate(bytes); }
void CudaBackend::release(void* memory) noexcept { device_->release(memory); }
void CudaBackend::upload(const Tensor& destination, const void* host) {
  device_->upload(destination.data, host, destination.bytes());
}
void CudaBackend::download(void* host, const Tensor& source) {
  device_->download(host, source.data, source.bytes());
}
void CudaBackend::copy(const Tensor& source, const Tensor& destination) {
  ACGAN_CHECK(source.shape == destination.shape && source.dtype == destination.dtype);
  device_->copy(destination.data, source.data, source.bytes());
}
void CudaBackend::zero(const Tensor& destination) {
  device_->zero(destination.data, destination.bytes());
}
void CudaBackend::synchronize() { device_->synchronize(); }

std::unique_ptr<CapturedWork> CudaBackend::capture(std::function<void()> work) {
  device_->begin_capture();
  try {
    work();
  } catch (...) {
    device_->end_capture();
    throw;
  }
  return std::make_unique<CapturedGraph>(*device_, device_->end_capture());
}

std::unique_ptr<Readback> CudaBackend::make_readback(std::vector<Tensor> sources) {
  return std::make_unique<PinnedReadback>(*device_, std::move(sources));
}

void CudaBackend::cast(const Tensor& source, const Tensor& destination) {
  ACGAN_CHECK(source.shape == destination.shape);
  launch_cast(source, destination, device_->stream());
}

// ---- convolution
void CudaBackend::conv2d_forward(const ConvGeometry& geometry, const Tensor& x, const Tensor& w,
                                 const Tensor& bias, Activation activation, const Tensor& y) {
  check_convolution(geometry, x, w, y);
  ACGAN_CHECK(x.dtype == w.dtype && x.dtype == y.dtype);
  ACGAN_CHECK(!bias || (bias.dtype == x.dtype && bias.count() == geometry.out_c));
  convolutions_->forward(geometry, x, w, bias, activation, y);
}

void CudaBackend::conv2d_backward_data(const ConvGeometry& geometry, const Tensor& dy,
                                       const Tensor& w, const Tensor& bias, const Tensor& dx) {
  check_convolution(geometry, dx, w, dy);
  ACGAN_CHECK(dy.dtype == w.dtype && dy.dtype == dx.dtype);
  ACGAN_CHECK(!bias || (bias.dtype == dy.dtype && bias.count() == geometry.in_c));
  convolutions_->backward_data(geometry, dy, w, bias, dx);
}

void CudaBackend::conv2d_backward_weight(const ConvGeometry& geometry, const Tensor& x,
                                         const Tensor& dy, const Tensor& dw,
                                         Accumulation accumulation) {
  check_convolution(geometry, x, dw, dy);
  ACGAN_CHECK(x.dtype == dy.dtype && dw.dtype == DType::F32);
  convolutions_->backward_weight(geometry, x, dy, dw, accumulation);
}

// ---- dense layers
// The bias goes in first and the product is added to it in float: one rounding on store.
void CudaBackend::dense_forward(const Tensor& x, const Tensor& w, const Tensor& bias,
                                const Tensor& y) {
  check_dense(x, w, y);
  ACGAN_CHECK(x.dtype == w.dtype && (y.dtype == x.dtype || y.dtype == DType::F32));
  ACGAN_CHECK(!bias || (bias.dtype == x.dtype && bias.count() == y.shape[1]));
  if (bias) launch_fill_rows(bias, y, device_->stream());
  matrices_->multiply({.a = x,
                       .b = w,
                       .b_layout = Layout::Transposed,
                       .c = y,
                       .accumulation = bias ? Accumulation::Add : Accumulation::Overwrite});
}

void CudaBackend::dense_backward_data(const Tensor& dy, const Tensor& w, const Tensor& dx,
                                      Accumulation accumulation) {
  check_dense(dx, w, dy);
  ACGAN_CHECK(dy.dtype == w.dtype && dy.dtype == dx.dtype);
  matrices_->multiply({.a = dy, .b = w, .c = dx, .accumulation = accumulation});
}

void CudaBackend::dense_backward_weight(const Tensor& x, const Tensor& dy, const Tensor& dw,
                                        Accumulation accumulation) {
  check_dense(x, dw, dy);
  ACGAN_CHECK(x.dtype == dy.dtype && dw.dtype == DType::F32);
  matrices_->multiply(
      {.a = dy, .b = x, .a_layout = Layout::Transposed, .c = dw, .accumulation = accumulation});
}

void CudaBackend::bias_backward(const Tensor& dy, const Tensor& db, Accumulation accumulation) {
  ACGAN_CHECK(db.dtype == DType::F32 && db.count() == dy.shape.back());
  const auto rows = static_cast<std::int64_t>(rows_of(dy));
  float* partials = scratch_.floats(column_sum_splits(rows) * db.count());
  launch_bias_backward(dy, db, accumulation, partials, device_->stream());
}

// ---- batch norm
void CudaBackend::batch_norm_forward(const BatchNormForward& a) {
  ACGAN_CHECK(a.x.shape == a.y.shape && a.x.dtype == a.y.dtype);
  check_statistics(a.x, {a.gamma, a.beta, a.mean, a.variance});
  const auto rows = static_cast<std::int64_t>(rows_of(a.x));
  float* scratch = scratch_.floats(batch_norm_scratch(rows, a.x.shape.back()));
  launch_batch_norm_forward(a, scratch, device_->stream());
}

void CudaBackend::batch_norm_backward(const BatchNormBackward& a) {
  ACGAN_CHECK(a.x.shape == a.dy.shape && a.x.shape == a.dx.shape);
  ACGAN_CHECK(a.x.dtype == a.dy.dtype && a.x.dtype == a.dx.dtype);
  check_statistics(a.x, {a.gamma, a.beta, a.mean, a.variance});
  ACGAN_CHECK(static_cast<bool>(a.dgamma) == static_cast<bool>(a.dbeta));
  if (a.dgamma) check_statistics(a.x, {a.dgamma, a.dbeta});
  const auto rows = static_cast<std::int64_t>(rows_of(a.x));
  float* scratch = scratch_.floats(batch_norm_scratch(rows, a.x.shape.back()));
  launch_batch_norm_backward(a, scratch, device_->stream());
}

void CudaBackend::batch_norm_update_running(const Tensor& mean, const Tensor& variance,
                                            float momentum, int times, const OptimizerState* state,
                                            const Tensor& running_mean,
                                            const Tensor& running_variance) {
  check_statistics(mean, {mean, variance, running_mean, running_variance});
  launch_update_running({.mean = mean,
                         .variance = variance,
                         .momentum = momentum,
                         .times = times,
                         .state = state,
                         .running_mean = running_mean,
                         .running_variance = running_variance},
                        device_->stream());
}

void CudaBackend::batch_norm_apply(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                                   const Tensor& running_mean, const Tensor& running_variance,
                                   Activation activation, const Tensor& y) {
  ACGAN_CHECK(x.shape == y.shape && x.dtype == y.dtype);
  check_statistics(x, {gamma, beta, running_mean, running_variance});
  launch_batch_norm_apply({.x = x,
                           .gamma = gamma,
                           .beta = beta,
                           .running_mean = running_mean,
                           .running_variance = running_variance,
                           .activation = activation,
                           .y = y},
                          device_->stream());
}

// ---- generator input and random numbers
void CudaBackend::concat_one_hot(const Tensor& z, const Tensor& labels, const Tensor& y) {
  ACGAN_CHECK(z.dtype == DType::F32 && labels.dtype == DType::I32);
  ACGAN_CHECK(z.rows() == labels.count() && y.rows() == z.rows() && y.shape[1] > z.shape[1]);
  launch_concat_one_hot(z, labels, y, device_->stream());
}

void CudaBackend::random_uniform(const RandomState* state, RandomStream stream,
                                 const Tensor& destination) {
  ACGAN_CHECK(state != nullptr && destination.dtype == DType::F32);
  launch_random_uniform(state, stream, destination, device_->stream());
}

void CudaBackend::advance_random(RandomState* state) {
  launch_advance_random(state, device_->stream());
}

void CudaBackend::draw_labels(const RandomState* state, std::int64_t classes,
                              const Tensor& destination) {
  ACGAN_CHECK(state != nullptr && destination.dtype == DType::I32 && classes > 0);
  launch_draw_labels(state, classes, destination, device_->stream());
}

// ---- augmentation
void CudaBackend::flip_images(const RandomState* state, const Tensor& images) {
  ACGAN_CHECK(state != nullptr && images.shape.rank() == 4);
  launch_flip_images(state, images, device_->stream());
}

void CudaBackend::augment(const AugmentationDraw& draw, const Tensor& x, const Tensor& y) {
  check_augmentation(draw, x, y);
  launch_augment(draw, x, y, device_->stream());
}

void CudaBackend::augment_backward(const AugmentationDraw& draw, const Tensor& dy,
                                   const Tensor& dx) {
  check_augmentation(draw, dy, dx);
  launch_augment_backward(draw, dy, dx, device_->stream());
}

// ---- losses
void CudaBackend::bce_with_logits(const Tensor& logits, float target, const LossResult& result) {
  ACGAN_CHECK(logits.dtype == DType::F32 && logits.count() > 0 && result.loss != nullptr);
  ACGAN_CHECK(!result.gradient || result.gradient.shape == logits.shape);
  launch_bce_with_logits(logits, target, result, device_->stream());
}

void CudaBackend::hinge_loss(const Tensor& logits, SourceTerm term, const LossResult& result) {
  ACGAN_CHECK(logits.dtype == DType::F32 && logits.count() > 0 && result.loss != nullptr);
  ACGAN_CHECK(!result.gradient || result.gradient.shape == logits.shape);
  launch_hinge_loss(logits, term, result, device_->stream());
}

void CudaBackend::softmax_cross_entropy(const Tensor& logits, const Tensor& labels,
                                        const LossResult& result, float* correct) {
  ACGAN_CHECK(logits.shape.rank() == 2 && logits.dtype == DType::F32 && logits.count() > 0);
  ACGAN_CHECK(labels.shape == Shape{logits.shape[0]} && labels.dtype == DType::I32);
  ACGAN_CHECK(result.loss != nullptr);
  ACGAN_CHECK(!result.gradient || result.gradient.shape == logits.shape);
  launch_softmax_cross_entropy(logits, labels, result, correct, device_->stream());
}

// ---- optimiser
void CudaBackend::flag_nonfinite(const Tensor& gradient, OptimizerState* state) {
  ACGAN_CHECK(gradient.dtype == DType::F32 && state != nullptr);
  launch_flag_nonfinite(gradient, state, device_->stream());
}

void CudaBackend::adam_step(const AdamUpdate& update) {
  ACGAN_CHECK(update.master.dtype == DType::F32);
  ACGAN_CHECK(!update.working || update.working.shape == update.master.shape);
  for (const AdamMoments& moments : update.optimizers) {
    ACGAN_CHECK(moments.state != nullptr && moments.gradient.shape == update.master.shape);
    ACGAN_CHECK(moments.m.shape == update.master.shape && moments.v.shape == update.master.shape);
  }
  launch_adam_step(update, device_->stream());
}

void CudaBackend::ema_step(const EmaUpdate& update) {
  ACGAN_CHECK(update.state != nullptr && update.value.shape == update.average.shape);
  ACGAN_CHECK(update.value.dtype == DType::F32 && update.average.dtype == DType::F32);
  launch_ema_step(update, device_->stream());
}

void CudaBackend::spectral_normalize(const SpectralNormalization& arguments) {
  check_spectral_normalization(arguments);
  const Tensor& master = arguments.weight.master;
  float* scratch = scratch_.floats(spectral_norm_scratch(master.rows(), master.row_size()));
  launch_spectral_normalize(arguments, scratch, device_->stream());
}

void CudaBackend::spectral_norm_backward(const SpectralWeight& weight, const Tensor& gradient) {
  check_spectral_gradient(weight, gradient);
  const Tensor& master = weight.master;
  float* scratch = scratch_.floats(spectral_norm_scratch(master.rows(), master.row_size()));
  launch_spectral_norm_backward(weight, gradient, scratch, device_->stream());
}

void CudaBackend::finish_step(OptimizerState* state, const AdamConstants& constants,
                              const LossScalePolicy& policy, const LearningRateSchedule& schedule) {
  launch_finish_step(state, constants, policy, schedule, device_->stream());
}

// ---- data set on the device
void CudaBackend::gather_images(const Tensor& images, const Tensor& indices, float divisor,
                                const Tensor& destination) {
  ACGAN_CHECK(images.dtype == DType::U8 && indices.dtype == DType::I32);
  ACGAN_CHECK(images.shape.rank() == 4 && destination.shape.rank() == 4);
  for (int axis = 1; axis < 4; ++axis) ACGAN_CHECK(images.shape[axis] == destination.shape[axis]);
  ACGAN_CHECK(destination.rows() == indices.count());
  launch_gather_images(images, indices, divisor, destination, device_->stream());
}

void CudaBackend::gather_labels(const Tensor& labels, const Tensor& indices,
                                const Tensor& destination) {
  ACGAN_CHECK(labels.dtype == DType::I32 && indices.dtype == DType::I32);
  ACGAN_CHECK(destination.dtype == DType::I32 && destination.count() == indices.count());
  launch_gather_labels(labels, indices, destination, device_->stream());
}

}  // namespace acgan::cuda
