#include "model/acgan.h"

#include "model/residual.h"
#include "nn/batch_norm.h"
#include "nn/conv2d.h"
#include "nn/conv_transpose2d.h"
#include "nn/dense.h"
#include "nn/sigmoid.h"

namespace acgan {

namespace {

void build_study_generator(Network& network, const AcganShape& shape) {
  const ModelConfig& w = shape.widths;
  const std::int64_t base = shape.image_size / 4;
  const std::int64_t flat = base * base * w.conv2_width;
  network.add<Dense>("dense1", w.latent_dim + shape.classes, w.dense_width, BiasTraining::Frozen);
  network.add<BatchNorm>("batch_norm1", Shape{w.dense_width}, Activation::Relu);
  network.add<Dense>("dense2", w.dense_width, flat, BiasTraining::Frozen);
  network.add<BatchNorm>("batch_norm2", Shape{flat}, Activation::Relu);
  network.add<ConvTranspose2d>("deconv3", base, w.conv2_width, w.conv1_width, BiasTraining::Frozen);
  network.add<BatchNorm>("batch_norm3", Shape{2 * base, 2 * base, w.conv1_width}, Activation::Relu);
  network.add<ConvTranspose2d>("deconv4", 2 * base, w.conv1_width, shape.channels,
                               BiasTraining::Trained);
  network.append(std::make_unique<Sigmoid>(
      "sigmoid", Shape{shape.image_size, shape.image_size, shape.channels}));
}

void build_study_trunk(Network& network, const AcganShape& shape) {
  const ModelConfig& w = shape.widths;
  const std::int64_t half = shape.image_size / 2, quarter = shape.image_size / 4;
  network.add<Conv2d>("conv1", halving_convolution(shape.image_size, shape.channels, w.conv1_width),
                      Conv2dOptions{.activation = Activation::LeakyRelu});
  network.add<Conv2d>("conv2", halving_convolution(half, w.conv1_width, w.conv2_width),
                      Conv2dOptions{.bias = BiasTraining::Frozen});
  network.add<BatchNorm>("batch_norm2", Shape{quarter, quarter, w.conv2_width},
                         Activation::LeakyRelu);
  network.add<Dense>("dense3", quarter * quarter * w.conv2_width, w.dense_width,
                     BiasTraining::Frozen);
  network.add<BatchNorm>("batch_norm3", Shape{w.dense_width}, Activation::LeakyRelu);
}

void build_trunk(Network& network, const AcganShape& shape) {
  if (shape.widths.preset == ModelPreset::Resnet32) return build_residual_trunk(network, shape);
  build_study_trunk(network, shape);
}

void build_classifier(Network& network, const AcganShape& shape) {
  const ModelConfig& w = shape.widths;
  network.add<Dense>("dense1", shape.features(), w.classifier_width, BiasTraining::Frozen);
  network.add<BatchNorm>("batch_norm1", Shape{w.classifier_width}, Activation::LeakyRelu);
  network.add<Dense>("dense2", w.classifier_width, shape.classes, BiasTraining::Trained,
                     DenseOutput::Float);
}

}  // namespace

std::int64_t AcganShape::features() const {
  return widths.preset == ModelPreset::Resnet32 ? widths.discriminator_width : widths.dense_width;
}

void build_generator(Network& network, const AcganShape& shape) {
  if (shape.widths.preset == ModelPreset::Resnet32) {
    return build_residual_generator(network, shape);
  }
  build_study_generator(network, shape);
}

Acgan::Acgan(Backend& backend, const AcganShape& model_shape, DType compute) : shape(model_shape) {
  build_generator(generator, shape);
  build_trunk(trunk, shape);
  source_head.add<Dense>("dense4", shape.features(), 1, BiasTraining::Trained, DenseOutput::Float);
  build_classifier(classifier, shape);
  if (shape.widths.spectral_norm) {
    for (Network* network : {&trunk, &source_head}) network->parameters().add_spectral_norm();
  }
  for (Network* network : networks()) network->allocate(backend, compute);
}

void Acgan::initialize(std::uint64_t seed) {
  for (Network* network : networks()) network->parameters().initialize(seed);
}

}  // namespace acgan
