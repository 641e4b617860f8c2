#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backend/buffer.h"

namespace acgan {

enum class Initializer {
  Zero,
  One,
  Normal,  // mean 0, standard deviation 0.02 (Radford et al. 2016, section 3)
  // +-sqrt(6 / (fan in + fan out)) (Glorot & Bengio 2010, eq. 16) of arrays [out,...,in]; between
  // them lie the pixels of a window, which count in both fans.
  XavierUniform,
  XavierUniformRelu,  // sqrt(2) times that, since a ReLU halves the second moment (He et al. 2015)
};

// What a parameter is to the backend: a matrix or kernel that it may keep in its own layout, or a
// vector.
enum class ParameterKind { Weight, Vector };

// The parameters of one network: flat arrays, F32 master copy and a working copy in the compute
// type (the same array where that is F32), and beside them the running statistics, which no
// optimiser touches. With spectral normalisation the working copy always is an array of its own and
// has each weight divided by sigma; u, v and sigma are statistics ("conv1.weight_u" and so on).
class ParameterStore {
 public:
  explicit ParameterStore(std::string prefix) : prefix_(std::move(prefix)) {}

  // Before allocate(): declare; the index is the layer's handle.
  int add(const std::string& name, const Shape& shape, Initializer initializer, ParameterKind kind);
  int add_statistic(const std::string& name, const Shape& shape, Initializer initializer);
  // Once all weights are there: they are to be normalised (Miyato et al. 2018).
  void add_spectral_norm();
  void allocate(Backend& backend, DType working);

  // Initial values from the seed; a parameter's numbers depend on its name, not on its neighbours.
  void initialize(std::uint64_t seed);
  // After master was written from outside (initialisation, checkpoint): working copy follows.
  void refresh_working();
  // After optimisers with these states stepped on master and working copy: a power iteration and
  // normalised weights, where one of them was not skipped.
  void follow_update(std::span<const OptimizerState* const> states);
  // The gradients of what operations read, in a flat array laid out as this store's, become those
  // of the master copy.
  void backward_to_master(const Tensor& flat_gradient) const;

  const std::string& prefix() const { return prefix_; }  // "generator", "discriminator", ...
  int parameters() const { return static_cast<int>(parameters_.size()); }
  int statistics() const { return static_cast<int>(statistics_.size()); }
  const std::string& parameter_name(int index) const { return at(parameters_, index).name; }
  const std::string& statistic_name(int index) const { return at(statistics_, index).name; }
  Tensor master(int index) const { return view(master_, at(parameters_, index)); }
  Tensor working(int index) const { return view(working_, at(parameters_, index)); }
  Tensor statistic(int index) const { return view(statistic_values_, at(statistics_, index)); }

  Tensor flat_master() const { return master_.view(); }
  Tensor flat_statistics() const { return statistic_values_.view(); }
  // Empty where the working copy is the master itself.
  Tensor flat_working() const { return has_working_copy() ? working_.view() : Tensor{}; }
  Backend& backend() const { return *backend_; }
  std::int64_t flat_count() const { return flat_count_; }
  std::int64_t parameter_count() const;  // without padding
  std::size_t bytes() const;

  // The view of parameter `index` in a flat F32 array laid out as this store's (gradients,
  // moments).
  Tensor view_of(const Tensor& flat, int index) const;

 private:
  struct Entry {
    std::string name;
    Shape shape;
    Initializer initializer = Initializer::Zero;
    ParameterKind kind = ParameterKind::Vector;
    std::int64_t offset = 0;
  };

  static const Entry& at(const std::vector<Entry>& entries, int index) {
    ACGAN_CHECK(index >= 0 && index < static_cast<int>(entries.size()));
    return entries[static_cast<std::size_t>(index)];
  }
  struct SpectralEntry {
    int weight, u, v, sigma;  // indices of a parameter and of statistics
  };

  bool has_working_copy() const { return working_.view().data != nullptr; }
  SpectralWeight spectral_weight(const SpectralEntry& entry) const;
  void normalize(int power_iterations, std::span<const OptimizerState* const> states);
  void refresh(int power_iterations);
  void announce_update();
  Tensor view(const OwnedTensor& flat, const Entry& entry) const;
  void fill(const Tensor& destination, const Entry& entry, std::uint64_t seed) const;

  std::string prefix_;
  Backend* backend_ = nullptr;
  std::vector<Entry> parameters_, statistics_;
  std::vector<SpectralEntry> spectral_;  // empty: nothing is normalised
  std::int64_t flat_count_ = 0, statistic_count_ = 0;
  OwnedTensor master_, working_, statistic_values_;
};

// One gradient for every parameter of a store, F32, in one flat array; zero where nothing writes
// it.
class GradientStore {
 public:
  explicit GradientStore(const ParameterStore& parameters)
      : parameters_(&parameters),
        flat_(parameters.backend(), Shape{parameters.flat_count()}, DType::F32) {}

  const ParameterStore& parameters() const { return *parameters_; }
  Tensor view(int index) const { return parameters_->view_of(flat_.view(), index); }
  const Tensor& flat() const { return flat_.view(); }

 private:
  const ParameterStore* parameters_;
  OwnedTensor flat_;
};

}  // namespace acgan
