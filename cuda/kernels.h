#pragma once

#include <cstdint>

#include "backend/backend.h"
#include "cuda/stream.h"

// Every launcher, one file of kernels/ after the other. Tensors lie in device memory; dtypes are
// those that Backend's operation of the same name takes (backend/backend.h says what each computes,
// with shapes). Arguments have been checked by the caller. Nothing here allocates or waits.
namespace acgan::cuda {

// ---- kernels/cast.cu
void launch_cast(const Tensor& source, const Tensor& destination, Stream stream);

// ---- kernels/bias.cu
// y [M,C] (any floating dtype) = bias [C] in every row, zeros where bias is empty.
void launch_fill_rows(const Tensor& bias, const Tensor& y, Stream stream);
// y [M,C] = activation(y + bias), in place; bias [C] of y's dtype, or empty.
void launch_bias_activation(const Tensor& bias, Activation activation, const Tensor& y,
                            Stream stream);
// `partials`: F32 [column_sum_splits(rows) * C], for sums that are the same in every run.
std::int64_t column_sum_splits(std::int64_t rows);
void launch_bias_backward(const Tensor& dy, const Tensor& db, Accumulation accumulation,
                          float* partials, Stream stream);

// ---- kernels/batch_norm.cu, kernels/batch_norm_backward.cu
// F32 scratch of forward and backward for x [M...,C] seen as [rows,C].
std::int64_t batch_norm_scratch(std::int64_t rows, std::int64_t channels);
void launch_batch_norm_forward(const BatchNormForward& arguments, float* scratch, Stream stream);
void launch_batch_norm_backward(const BatchNormBackward& arguments, float* scratch, Stream stream);
struct RunningUpdate {
  Tensor mean, variance;
  float momentum = 0.0f;
  int times = 1;
  const OptimizerState* state = nullptr;
  Tensor running_mean, running_variance;
};
void launch_update_running(const RunningUpdate& update, Stream stream);
struct BatchNormApply {
  Tensor x, gamma, beta, running_mean, running_variance;
  Activation activation = Activation::None;
  Tensor y;
};
void launch_batch_norm_apply(const BatchNormApply& arguments, Stream stream);

// ---- kernels/activation.cu
void launch_activation_forward(const Tensor& x, Activation activation, const Tensor& y,
                               Stream stream);
void launch_activation_backward(const Tensor& y, const Tensor& dy, Activation activation,
                                const Tensor& dx, Stream stream);
void launch_sigmoid_forward(const Tensor& x, const Tensor& y, Stream stream);
void launch_sigmoid_backward(const Tensor& y, const Tensor& dy, const Tensor& dx, Stream stream);
void launch_add(const Tensor& a, const Tensor& b, const Tensor& y, Stream stream);

// ---- kernels/pooling.cu
void launch_pool2(const Tensor& large, float scale, const Tensor& small, Stream stream);
void launch_unpool2(const Tensor& small, float scale, const Tensor& large, Stream stream);

// ---- kernels/conditioning.cu
void launch_concat_one_hot(const Tensor& z, const Tensor& labels, const Tensor& y, Stream stream);

// ---- kernels/random.cu
void launch_random_uniform(const RandomState* state, RandomStream random, const Tensor& destination,
                           Stream stream);
void launch_advance_random(RandomState* state, Stream stream);

void launch_draw_labels(const RandomState* state, std::int64_t classes, const Tensor& destination,
                        Stream stream);

// ---- kernels/augmentation.cu
void launch_flip_images(const RandomState* state, const Tensor& images, Stream stream);
void launch_augment(const AugmentationDraw& draw, const Tensor& x, const Tensor& y, Stream stream);
void launch_augment_backward(const AugmentationDraw& draw, const Tensor& dy, const Tensor& dx,
                             Stream stream);

// ---- kernels/loss.cu
void launch_bce_with_logits(const Tensor& logits, float target, const LossResult& result,
                            Stream stream);
void launch_hinge_loss(const Tensor& logits, SourceTerm term, const LossResult& result,
                       Stream stream);
void launch_softmax_cross_entropy(const Tensor& logits, const Tensor& labels,
                                  const LossResult& result, float* correct, Stream stream);

// ---- kernels/optimizer.cu
void launch_flag_nonfinite(const Tensor& gradient, OptimizerState* state, Stream stream);
void launch_adam_step(const AdamUpdate& update, Stream stream);
void launch_ema_step(const EmaUpdate& update, Stream stream);
void launch_finish_step(OptimizerState* state, const AdamConstants& constants,
                        const LossScalePolicy& policy, const LearningRateSchedule& schedule,
                        Stream stream);

// ---- kernels/spectral_norm.cu
// F32 scratch of both for a weight [rows, columns].
std::int64_t spectral_norm_scratch(std::int64_t rows, std::int64_t columns);
void launch_spectral_normalize(const SpectralNormalization& arguments, float* scratch,
                               Stream stream);
void launch_spectral_norm_backward(const SpectralWeight& weight, const Tensor& gradient,
                                   float* scratch, Stream stream);

// ---- kernels/gather.cu
void launch_gather_images(const Tensor& images, const Tensor& indices, float divisor,
                          const Tensor& destination, Stream stream);
void launch_gather_labels(const Tensor& labels, const Tensor& indices, const Tensor& destination,
                          Stream stream);

}  // namespace acgan::cuda
