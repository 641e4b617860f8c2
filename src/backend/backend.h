#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/augmentation.h"
#include "backend/conv_geometry.h"
#include "backend/philox.h"
#include "backend/step_state.h"
#include "tensor/tensor.h"

namespace acgan {

enum class Activation { None, Relu, LeakyRelu };  // LeakyRelu: slope kLeakySlope below zero
inline constexpr float kLeakySlope = 0.2f;
inline constexpr float kBatchNormEpsilon = 1e-5f;
inline constexpr float kSmallestSigma = 1e-12f;  // a weight of zeros is divided by this

enum class Accumulation { Overwrite, Add };

// Result places of a loss: the mean over the batch, and the gradient of loss * loss_scale.
struct LossResult {
  float* loss = nullptr;  // backend memory; mean over the batch, unscaled, F32
  Accumulation accumulation = Accumulation::Overwrite;  // of *loss
  Tensor gradient;                                      // shape of the logits; empty: not wanted
  const OptimizerState* scaler = nullptr;               // gradient is multiplied by its loss_scale
};

struct BatchNormForward {
  Tensor x;            // [M...,C]: statistics are over all axes but the last
  Tensor gamma, beta;  // F32 [C]
  Activation activation = Activation::None;
  Tensor y;  // shape of x; activation(gamma * (x - mean) / sqrt(variance + eps) + beta)
  Tensor mean, variance;  // F32 [C], written: batch mean and biased batch variance
};

struct BatchNormBackward {
  Tensor x, dy;           // what forward read; gradient of y (after the activation)
  Tensor gamma, beta;     // F32 [C]
  Tensor mean, variance;  // what forward wrote
  Activation activation = Activation::None;
  Tensor dx;                                            // shape of x; may be dy itself
  Tensor dgamma, dbeta;                                 // F32 [C], or both empty: not wanted
  Accumulation accumulation = Accumulation::Overwrite;  // of dgamma and dbeta
};

// One optimiser's share in an update of one flat array of parameters, all F32 [count].
struct AdamMoments {
  Tensor gradient, m, v;
  const OptimizerState* state = nullptr;
};

struct AdamUpdate {
  Tensor master;   // F32 [count]
  Tensor working;  // compute dtype [count], refreshed from master; empty: master itself is used
  std::span<const AdamMoments>
      optimizers;  // applied one after the other, each unless its state says nonfinite
  AdamConstants constants;
};

// Exponential moving average of one flat array of parameters, both F32 [count].
struct EmaUpdate {
  Tensor value, average;
  float decay = 0.0f;
  float ramp_up = 0.0f;                   // steps; 0: the same decay from the start
  const OptimizerState* state = nullptr;  // of the optimiser that moved `value`
};

// A weight W, seen as the matrix [out, rest], and what is known of its largest singular value. All
// F32 in backend memory.
struct SpectralWeight {
  Tensor master;  // [out, ...]
  Tensor u, v;    // [out], [rest]: unit vectors near the left and right singular ones
  Tensor sigma;   // [1]: u^T W v
};

// Spectral normalisation (Miyato et al. 2018, algorithm 1).
struct SpectralNormalization {
  SpectralWeight weight;
  Tensor working;  // compute dtype, shape of master: master / sigma, rounded once
  int power_iterations = 1;
  // Of the optimisers that moved the weight: nothing happens where all of them say nonfinite.
  // None: it is done in any case.
  std::span<const OptimizerState* const> states;
};

// Whose images a loss of the source head is of: D's real ones, D's fakes, the generator's fakes.
enum class SourceTerm { Real, Fake, Generator };

// The images [N,H,H,C] of an augmentation are the ones from `first_image` on of the batch that the
// random numbers are drawn for.
struct AugmentationDraw {
  const RandomState* state = nullptr;
  Augmentation kinds;
  std::int64_t first_image = 0;
};

// The parts of a training step, for profiles.
enum class StepPhase { Data, Discriminator, Generator, Optimizers };
inline constexpr int kStepPhases = 4;

// Work that was recorded once and can be run as often as wanted.
class CapturedWork {
 public:
  virtual ~CapturedWork() = default;
  virtual void run() = 0;
};

// Reads a few small tensors without holding up the device.
class Readback {
 public:
  virtual ~Readback() = default;
  virtual void start() = 0;  // queues the reading behind the work asked for so far
  virtual bool is_ready() const = 0;
  virtual void wait() = 0;  // until what start() queued is there
  // The tensors' bytes, one after the other, after wait().
  virtual std::span<const std::byte> bytes() const = 0;
  // Time on the device from where `earlier` read to where this one did; after wait() on both.
  virtual double milliseconds_since(const Readback& earlier) const = 0;
};

// The complete list of operations that training needs, on one device. Operations take views,
// allocate nothing the caller can see, read nothing back and may run asynchronously until
// synchronize(). Unless noted, floating tensors have the compute dtype (F32, F16 or BF16): values
// are widened on load, computed in float and rounded on store. Shapes that do not fit are a broken
// promise of the caller (std::logic_error); out of memory is Error{Device}.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;
  // One line for the start-up log: device, threads, instruction set, how `half` is computed.
  virtual std::string description() const = 0;
  // Whether the device has instructions for this type; otherwise it is storage only.
  virtual bool computes_in(DType type) const = 0;
  // Why a convolution of this geometry and type is not computed by the fastest means the device
  // has; empty where it is.
  // Who computes convolutions in this type: "handwritten", "cudnn" or "onednn".
  virtual std::string convolution_library(DType) const { return "handwritten"; }
  virtual std::string convolution_note(const ConvGeometry&, DType) const { return {}; }

  // ---- memory: zeroed, aligned to 64 bytes
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  // What operations have taken for themselves so far, beside what was allocated.
  virtual std::size_t workspace_bytes() const = 0;
  // What can still be allocated beside what is there. In the host's memory all that is asked for
  // counts as there: allocate() says when it is not.
  virtual std::size_t free_bytes() const = 0;
  virtual void upload(const Tensor& destination, const void* host) = 0;
  virtual void download(void* host, const Tensor& source) = 0;  // waits until it is there
  virtual void copy(const Tensor& source, const Tensor& destination) = 0;  // same shape and dtype
  virtual void zero(const Tensor& destination) = 0;
  virtual void synchronize() = 0;

  // ---- control
  // What follows belongs to this part of a step. It says so and does nothing.
  virtual void begin_phase(StepPhase /*phase*/) {}
  // Records the operations that `work` asks for, without running them. Everything about them is
  // kept as it is now but what lies in backend memory. No upload, download or allocation in it.
  virtual std::unique_ptr<CapturedWork> capture(std::function<void()> work) = 0;
  virtual std::unique_ptr<Readback> make_readback(std::vector<Tensor> sources) = 0;

  // ---- conversion between floating dtypes, same shape
  virtual void cast(const Tensor& source, const Tensor& destination) = 0;

  // ---- convolution; x [N,in_h,in_w,in_c], y [N,out_h,out_w,out_c], w [out_c,k,k,in_c]
  // y = activation(conv(x, w) + bias); bias [out_c] in the compute dtype, or empty.
  virtual void conv2d_forward(const ConvGeometry& geometry, const Tensor& x, const Tensor& w,
                              const Tensor& bias, Activation activation, const Tensor& y) = 0;
  // dx = transpose of conv applied to dy, + bias [in_c] or empty: the gradient of a convolution's
  // input, and the forward pass of a transposed convolution.
  virtual void conv2d_backward_data(const ConvGeometry& geometry, const Tensor& dy, const Tensor& w,
                                    const Tensor& bias, const Tensor& dx) = 0;
  // dw F32 [out_c,k,k,in_c], summed over the batch.
  virtual void conv2d_backward_weight(const ConvGeometry& geometry, const Tensor& x,
                                      const Tensor& dy, const Tensor& dw,
                                      Accumulation accumulation) = 0;

  // ---- dense layers; x [N,in], y [N,out], w [out,in]
  // y = x w^T + bias; y may be F32 whatever the compute dtype; bias [out] or empty.
  virtual void dense_forward(const Tensor& x, const Tensor& w, const Tensor& bias,
                             const Tensor& y) = 0;
  virtual void dense_backward_data(const Tensor& dy, const Tensor& w, const Tensor& dx,
                                   Accumulation accumulation) = 0;
  virtual void dense_backward_weight(const Tensor& x, const Tensor& dy, const Tensor& dw,
                                     Accumulation accumulation) = 0;  // dw F32

  // db F32 [C]: sum of dy over all axes but the last.
  virtual void bias_backward(const Tensor& dy, const Tensor& db, Accumulation accumulation) = 0;

  // The values of the weight array `w` (as the operations above are given it) have changed: copies
  // that the backend keeps in its own layout are stale.
  virtual void weights_updated(const Tensor& w) = 0;

  // ---- batch norm (Ioffe & Szegedy 2015), activation fused, arithmetic in float
  virtual void batch_norm_forward(const BatchNormForward& arguments) = 0;
  virtual void batch_norm_backward(const BatchNormBackward& arguments) = 0;
  // running = (1 - momentum) * running + momentum * batch, `times` times over; nothing where
  // state->nonfinite. All F32 [C].
  virtual void batch_norm_update_running(const Tensor& mean, const Tensor& variance, float momentum,
                                         int times, const OptimizerState* state,
                                         const Tensor& running_mean,
                                         const Tensor& running_variance) = 0;
  // Inference: y = activation(gamma * (x - running_mean) / sqrt(running_variance + eps) + beta).
  virtual void batch_norm_apply(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                                const Tensor& running_mean, const Tensor& running_variance,
                                Activation activation, const Tensor& y) = 0;

  // ---- activations
  // y = activation(x); y may be x.
  virtual void activation_forward(const Tensor& x, Activation activation, const Tensor& y) = 0;
  // dx = dy * activation'(.), told from the sign of the output y; dx may be dy.
  virtual void activation_backward(const Tensor& y, const Tensor& dy, Activation activation,
                                   const Tensor& dx) = 0;
  virtual void sigmoid_forward(const Tensor& x, const Tensor& y) = 0;
  // dx = dy * y * (1 - y); dx may be dy.
  virtual void sigmoid_backward(const Tensor& y, const Tensor& dy, const Tensor& dx) = 0;

  // ---- branches: y = a + b, all of one shape and dtype; y may be a or b.
  virtual void add(const Tensor& a, const Tensor& b, const Tensor& y) = 0;

  // ---- pooling; large [N,H,W,C], small [N,ceil(H/2),ceil(W/2),C] of one dtype
  // small = scale * sum over windows of 2x2; where H or W is odd the last windows reach beyond the
  // image, which counts as zero there.
  virtual void pool2(const Tensor& large, float scale, const Tensor& small) = 0;
  // The transpose of pool2: large[h,w] = scale * small[h/2,w/2].
  virtual void unpool2(const Tensor& small, float scale, const Tensor& large) = 0;

  // ---- generator input: y [N,Z+K] = [z, one_hot(labels)]; z F32 [N,Z], labels I32 [N]
  virtual void concat_one_hot(const Tensor& z, const Tensor& labels, const Tensor& y) = 0;

  // ---- random: F32 in [-1,1), element i from word i % 4 of Philox block i / 4 at state->step
  virtual void random_uniform(const RandomState* state, RandomStream stream,
                              const Tensor& destination) = 0;
  virtual void advance_random(RandomState* state) = 0;  // step += 1
  // I32 labels in [0, classes), evenly: word i % 4 of Philox block i / 4, times classes / 2^32.
  virtual void draw_labels(const RandomState* state, std::int64_t classes,
                           const Tensor& destination) = 0;

  // ---- augmentation of images [N,H,W,C]
  // In place: image n is mirrored, left to right, where word n % 4 of Philox block n / 4 is odd.
  virtual void flip_images(const RandomState* state, const Tensor& images) = 0;
  // y = augmented x (backend/augmentation.h), not in place.
  virtual void augment(const AugmentationDraw& draw, const Tensor& x, const Tensor& y) = 0;
  // dx from dy with the same draw: the transpose of augment's linear part; not in place.
  virtual void augment_backward(const AugmentationDraw& draw, const Tensor& dy,
                                const Tensor& dx) = 0;

  // ---- losses from logits, in float; logits F32
  // mean over [N] of log(1 + exp(l)) - target * l (so target 1: log(1 + exp(-l)))
  virtual void bce_with_logits(const Tensor& logits, float target, const LossResult& result) = 0;
  // Hinge loss (Lim & Ye 2017): mean of max(0, 1 - l), max(0, 1 + l) or -l over logits [N].
  virtual void hinge_loss(const Tensor& logits, SourceTerm term, const LossResult& result) = 0;
  // mean over rows of [N,K] of -log softmax(l)[label]; `correct` (or null): share of rows whose
  // largest logit is the label.
  virtual void softmax_cross_entropy(const Tensor& logits, const Tensor& labels,
                                     const LossResult& result, float* correct) = 0;

  // ---- optimiser; states lie in backend memory
  // state->nonfinite = 1 where any element of the F32 gradient is Inf or NaN.
  virtual void flag_nonfinite(const Tensor& gradient, OptimizerState* state) = 0;
  // g = gradient / loss_scale; the powers used are beta^(applied + 1), so finish_step comes after.
  virtual void adam_step(const AdamUpdate& update) = 0;
  // average += (1 - d) * (value - average), d = min(decay, t / (t + ramp_up)), t = applied + 1;
  // nothing where state->nonfinite. Between adam_step and finish_step.
  virtual void ema_step(const EmaUpdate& update) = 0;
  // Power iterations v = W^T u / |W^T u|, u = W v / |W v|, sigma = |W v|, and then the normalised
  // weight. A vector whose product is zero stays; sigma is kSmallestSigma at least.
  virtual void spectral_normalize(const SpectralNormalization& arguments) = 0;
  // In place, F32, shape of master: the gradient G of W / sigma becomes that of W with u and v held
  // constant, (G - <G, W / sigma> u v^T) / sigma (Miyato et al. 2018, section 2.2).
  virtual void spectral_norm_backward(const SpectralWeight& weight, const Tensor& gradient) = 0;
  // Ages the state (applied, beta powers) and moves the learning rate by the schedule or, where
  // nonfinite, counts the skip; moves the loss scale by the policy; clears nonfinite.
  virtual void finish_step(OptimizerState* state, const AdamConstants& constants,
                           const LossScalePolicy& policy, const LearningRateSchedule& schedule) = 0;

  // ---- data set on the device: images U8 [M,H,W,C], indices I32 [N]
  // destination [N,H,W,C] = images[indices] / divisor
  virtual void gather_images(const Tensor& images, const Tensor& indices, float divisor,
                             const Tensor& destination) = 0;
  // destination I32 [N] = labels[indices], labels I32 [M]
  virtual void gather_labels(const Tensor& labels, const Tensor& indices,
                             const Tensor& destination) = 0;
};

}  // namespace acgan
