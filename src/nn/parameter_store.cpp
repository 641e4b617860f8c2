#include "nn/parameter_store.h"

#include <cmath>
#include <numbers>

namespace acgan {
namespace {

// Parameters start on 64-byte boundaries in F32 and in the 16-bit types.
constexpr std::int64_t kAlignment = 32;

// From random vectors; a single one follows each update.
constexpr int kFirstPowerIterations = 15;

std::int64_t padded(std::int64_t count) {
  return (count + kAlignment - 1) / kAlignment * kAlignment;
}

std::uint64_t hash_of(const std::string& name) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

// Box-Muller; the unit number is moved off zero.
float next_normal(PhiloxSequence& random) {
  const double u = (static_cast<double>(random.next()) + 0.5) * 0x1p-32;
  const double v = static_cast<double>(random.next()) * 0x1p-32;
  return static_cast<float>(std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v));
}

// Half the width of the range that values of [out,...,in] are drawn from.
float uniform_bound(Initializer initializer, const Shape& shape) {
  const bool is_relu = initializer == Initializer::XavierUniformRelu;
  if (!is_relu && initializer != Initializer::XavierUniform) return 0.0f;
  const std::int64_t window = shape.count() / (shape[0] * shape.back());
  const auto fans = static_cast<double>(window * (shape[0] + shape.back()));
  return static_cast<float>(std::sqrt((is_relu ? 12.0 : 6.0) / fans));
}

}  // namespace

int ParameterStore::add(const std::string& name, const Shape& shape, Initializer initializer,
                        ParameterKind kind) {
  ACGAN_CHECK(backend_ == nullptr);
  parameters_.push_back({prefix_ + "." + name, shape, initializer, kind, flat_count_});
  flat_count_ += padded(shape.count());
  return parameters() - 1;
}

int ParameterStore::add_statistic(const std::string& name, const Shape& shape,
                                  Initializer initializer) {
  ACGAN_CHECK(backend_ == nullptr);
  statistics_.push_back(
      {prefix_ + "." + name, shape, initializer, ParameterKind::Vector, statistic_count_});
  statistic_count_ += padded(shape.count());
  return statistics() - 1;
}

void ParameterStore::add_spectral_norm() {
  ACGAN_CHECK(backend_ == nullptr && spectral_.empty());
  for (int i = 0; i < parameters(); ++i) {
    const Entry& entry = at(parameters_, i);
    if (entry.kind != ParameterKind::Weight) continue;
    const std::string name = entry.name.substr(prefix_.size() + 1);
    const std::int64_t out = entry.shape[0], rest = entry.shape.count() / out;
    spectral_.push_back({.weight = i,
                         .u = add_statistic(name + "_u", {out}, Initializer::Normal),
                         .v = add_statistic(name + "_v", {rest}, Initializer::Normal),
                         .sigma = add_statistic(name + "_sigma", {1}, Initializer::One)});
  }
}

void ParameterStore::allocate(Backend& backend, DType working) {
  ACGAN_CHECK(backend_ == nullptr);
  backend_ = &backend;
  master_ = OwnedTensor(backend, Shape{flat_count_}, DType::F32);
  const bool own_copy = working != DType::F32 || !spectral_.empty();
  if (own_copy) working_ = OwnedTensor(backend, Shape{flat_count_}, working);
  statistic_values_ = OwnedTensor(backend, Shape{statistic_count_}, DType::F32);
}

void ParameterStore::fill(const Tensor& destination, const Entry& entry, std::uint64_t seed) const {
  std::vector<float> values(static_cast<std::size_t>(entry.shape.count()));
  PhiloxSequence random(seed, RandomStream::Weights, hash_of(entry.name));
  const float bound = uniform_bound(entry.initializer, entry.shape);
  for (float& value : values) {
    switch (entry.initializer) {
      case Initializer::Zero:
        value = 0.0f;
        break;
      case Initializer::One:
        value = 1.0f;
        break;
      case Initializer::Normal:
        value = 0.02f * next_normal(random);
        break;
      case Initializer::XavierUniform:
      case Initializer::XavierUniformRelu:
        value = bound * uniform_symmetric(random.next());
        break;
    }
  }
  backend_->upload(destination, values.data());
}

void ParameterStore::initialize(std::uint64_t seed) {
  for (int i = 0; i < parameters(); ++i) fill(master(i), at(parameters_, i), seed);
  for (int i = 0; i < statistics(); ++i) fill(statistic(i), at(statistics_, i), seed);
  refresh(kFirstPowerIterations);
}

void ParameterStore::refresh_working() { refresh(0); }

void ParameterStore::refresh(int power_iterations) {
  if (has_working_copy()) backend_->cast(master_.view(), working_.view());
  normalize(power_iterations, {});
  announce_update();
}

void ParameterStore::follow_update(std::span<const OptimizerState* const> states) {
  normalize(1, states);
  announce_update();
}

void ParameterStore::backward_to_master(const Tensor& flat_gradient) const {
  for (const SpectralEntry& entry : spectral_) {
    backend_->spectral_norm_backward(spectral_weight(entry), view_of(flat_gradient, entry.weight));
  }
}

SpectralWeight ParameterStore::spectral_weight(const SpectralEntry& entry) const {
  return {.master = master(entry.weight),
          .u = statistic(entry.u),
          .v = statistic(entry.v),
          .sigma = statistic(entry.sigma)};
}

void ParameterStore::normalize(int power_iterations,
                               std::span<const OptimizerState* const> states) {
  for (const SpectralEntry& entry : spectral_) {
    backend_->spectral_normalize({.weight = spectral_weight(entry),
                                  .working = working(entry.weight),
                                  .power_iterations = power_iterations,
                                  .states = states});
  }
}

void ParameterStore::announce_update() {
  for (int i = 0; i < parameters(); ++i) {
    if (at(parameters_, i).kind == ParameterKind::Weight) backend_->weights_updated(working(i));
  }
}

std::int64_t ParameterStore::parameter_count() const {
  std::int64_t count = 0;
  for (const Entry& entry : parameters_) count += entry.shape.count();
  return count;
}

std::size_t ParameterStore::bytes() const {
  return master_.view().bytes() + (has_working_copy() ? working_.view().bytes() : 0) +
         statistic_values_.view().bytes();
}

Tensor ParameterStore::view(const OwnedTensor& flat, const Entry& entry) const {
  const Tensor& array = flat.view() ? flat.view() : master_.view();
  return array.slice(entry.offset, entry.shape.count()).reshaped(entry.shape);
}

Tensor ParameterStore::view_of(const Tensor& flat, int index) const {
  const Entry& entry = at(parameters_, index);
  ACGAN_CHECK(flat.count() == flat_count_);
  return flat.slice(entry.offset, entry.shape.count()).reshaped(entry.shape);
}

}  // namespace acgan
