#include <vector>

#include "backend/cpu/column_sums.h"
#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/vector_activation.h"

// All tensors are seen as [rows, channels]. Both passes sum down the columns first, turn the sums
// into a few constants a channel, then go over the elements. Where one tile holds all rows (dense
// layers) the three follow each other tile by tile while its elements are in the cache.
namespace acgan {
namespace {

using cpu::Float8;
using cpu::Tile;

// Constants per channel, one array after the other.
template <int kArrays>
class ChannelConstants {
 public:
  explicit ChannelConstants(std::int64_t channels)
      : channels_(channels), values_(static_cast<std::size_t>(kArrays * channels)) {}
  float* array(int k) { return values_.data() + k * channels_; }

 private:
  std::int64_t channels_;
  std::vector<float> values_;
};

// Runs sum_tile on all tiles, finish on all columns, apply_tile on all tiles.
template <typename SumTile, typename Finish, typename ApplyTile>
void run_passes(int threads, const cpu::Tiling& tiling, const SumTile& sum_tile,
                const Finish& finish, const ApplyTile& apply_tile) {
  if (tiling.row_tiles() == 1) {
    tiling.for_each_tile(threads, [&](const Tile& tile) {
      sum_tile(tile);
      finish(tile);
      apply_tile(tile);
    });
    return;
  }
  tiling.for_each_tile(threads, sum_tile);
  tiling.for_each_column_tile(threads, finish);
  tiling.for_each_tile(threads, apply_tile);
}

// Calls body(offset, column, lanes) for the vectors of a tile, row by row; `offset` is the element.
template <typename Body>
void for_each_element(const Tile& tile, std::int64_t channels, const Body& body) {
  for (std::int64_t row = tile.row_begin; row < tile.row_end; ++row) {
    cpu::for_each_vector(tile.column_begin, tile.column_end,
                         [&](std::int64_t c, auto lanes) { body(row * channels + c, c, lanes); });
  }
}

// y = activation((x - center) * scale + shift), constants per channel.
template <typename T, Activation kActivation>
void normalise_tile(const Tile& tile, std::int64_t channels, const T* x, const float* center,
                    const float* scale, const float* shift, T* y) {
  for_each_element(tile, channels, [=](std::int64_t i, std::int64_t c, auto lanes) {
    const Float8 deviation = cpu::load(x + i, lanes) - cpu::load(center + c, lanes);
    const Float8 value = deviation * cpu::load(scale + c, lanes) + cpu::load(shift + c, lanes);
    cpu::store(y + i, cpu::activate<kActivation>(value), lanes);
  });
}

// 1 / sqrt(variance + epsilon)
Float8 inverse_deviation(Float8 variance) {
  return 1.0f / cpu::square_root(variance + kBatchNormEpsilon);
}

template <typename T, Activation kActivation>
class ForwardPass {
 public:
  ForwardPass(const BatchNormForward& a, std::int64_t rows, std::int64_t channels)
      : x_(a.x.as<T>()),
        y_(a.y.as<T>()),
        gamma_(a.gamma.as<float>()),
        beta_(a.beta.as<float>()),
        mean_(a.mean.as<float>()),
        variance_(a.variance.as<float>()),
        tiling_(rows, channels),
        sums_(tiling_),
        constants_(channels) {}

  void run(int threads) {
    if (tiling_.row_tiles() > 1) {
      tiling_.for_each_column_tile(threads, [this](const Tile& tile) { estimate_means(tile); });
    }
    run_passes(
        threads, tiling_, [this](const Tile& tile) { sum(tile); },
        [this](const Tile& tile) { finish(tile); },
        [this](const Tile& tile) {
          normalise_tile<T, kActivation>(tile, tiling_.columns(), x_, mean_, scale(), shift(), y_);
        });
  }

 private:
  float* estimate() { return constants_.array(0); }
  float* scale() { return constants_.array(1); }
  float* shift() { return constants_.array(2); }

  // A value near the mean of each channel: of eight rows, the value nearest to their mean, which
  // no single outlier can spoil. Summing differences to it keeps the variance exact where the mean
  // is large against the deviation.
  void estimate_means(const Tile& tile) {
    cpu::for_each_vector(tile.column_begin, tile.column_end, [&](std::int64_t c, auto lanes) {
      Float8 samples[8], sum = {};
      for (int k = 0; k < 8; ++k) {
        const std::int64_t row = tiling_.rows() * k / 8;
        samples[k] = cpu::load(x_ + row * tiling_.columns() + c, lanes);
        sum += samples[k];
      }
      const Float8 sample_mean = sum * 0.125f;
      Float8 nearest = samples[0];
      for (const Float8& sample : samples) {
        const Float8 distance = sample - sample_mean, best = nearest - sample_mean;
        nearest = distance * distance < best * best ? sample : nearest;
      }
      cpu::store(estimate() + c, nearest, lanes);
    });
  }

  void sum(const Tile& tile) {
    if (tiling_.row_tiles() == 1) estimate_means(tile);
    const T* x = x_;
    const float* center = estimate();
    const std::int64_t channels = tiling_.columns();
    sums_.add_tile(tile, [=](std::int64_t row, std::int64_t c, auto lanes, auto& partial) {
      const Float8 difference =
          cpu::load(x + row * channels + c, lanes) - cpu::load(center + c, lanes);
      partial[0] += difference;
      partial[1] += difference * difference;
    });
  }

  void finish(const Tile& tile) {
    const double share = 1.0 / static_cast<double>(tiling_.rows());
    for (std::int64_t c = tile.column_begin; c < tile.column_end; ++c) {
      const double offset = sums_.total(0, c) * share;
      const double mean = double{estimate()[c]} + offset;
      const double variance = sums_.total(1, c) * share - offset * offset;
      mean_[c] = static_cast<float>(mean);
      variance_[c] = static_cast<float>(variance < 0.0 ? 0.0 : variance);
      shift()[c] = static_cast<float>(mean - double{mean_[c]});  // what rounding took from the mean
    }
    cpu::for_each_vector(tile.column_begin, tile.column_end, [&](std::int64_t c, auto lanes) {
      const Float8 scale_value =
          cpu::load(gamma_ + c, lanes) * inverse_deviation(cpu::load(variance_ + c, lanes));
      const Float8 mean_rest = cpu::load(shift() + c, lanes);
      cpu::store(scale() + c, scale_value, lanes);
      cpu::store(shift() + c, cpu::load(beta_ + c, lanes) - mean_rest * scale_value, lanes);
    });
  }

  const T* x_;
  T* y_;
  const float *gamma_, *beta_;
  float *mean_, *variance_;
  cpu::Tiling tiling_;
  cpu::ColumnSums<2> sums_;  // of the differences to estimate() and of their squares
  ChannelConstants<3> constants_;
};

template <typename T, Activation kActivation>
class BackwardPass {
 public:
  BackwardPass(const BatchNormBackward& a, std::int64_t rows, std::int64_t channels)
      : x_(a.x.as<T>()),
        dy_(a.dy.as<T>()),
        dx_(a.dx.as<T>()),
        gamma_(a.gamma.as<float>()),
        beta_(a.beta.as<float>()),
        mean_(a.mean.as<float>()),
        variance_(a.variance.as<float>()),
        dgamma_(a.dgamma ? a.dgamma.as<float>() : nullptr),
        dbeta_(a.dbeta ? a.dbeta.as<float>() : nullptr),
        accumulation_(a.accumulation),
        tiling_(rows, channels),
        sums_(tiling_),
        constants_(channels) {}

  void run(int threads) {
    prepare_scale();
    run_passes(
        threads, tiling_, [this](const Tile& tile) { sum(tile); },
        [this](const Tile& tile) { finish(tile); }, [this](const Tile& tile) { apply(tile); });
  }

 private:
  float* inverse() { return constants_.array(0); }
  float* scale() { return constants_.array(1); }
  float* gradient_mean() { return constants_.array(2); }
  float* projection() { return constants_.array(3); }

  void prepare_scale() {
    cpu::for_each_vector(std::int64_t{0}, tiling_.columns(), [&](std::int64_t c, auto lanes) {
      const Float8 inverse_value = inverse_deviation(cpu::load(variance_ + c, lanes));
      cpu::store(inverse() + c, inverse_value, lanes);
      cpu::store(scale() + c, cpu::load(gamma_ + c, lanes) * inverse_value, lanes);
    });
  }

  // Sums of dy (behind the activation) and of dy * (x - mean).
  void sum(const Tile& tile) {
    const T *x = x_, *dy = dy_;
    const float *mean = mean_, *scale_values = scale(), *beta = beta_;
    const std::int64_t channels = tiling_.columns();
    sums_.add_tile(tile, [=](std::int64_t row, std::int64_t c, auto lanes, auto& partial) {
      const std::int64_t i = row * channels + c;
      const Float8 deviation = cpu::load(x + i, lanes) - cpu::load(mean + c, lanes);
      const Float8 output =
          deviation * cpu::load(scale_values + c, lanes) + cpu::load(beta + c, lanes);
      const Float8 gradient =
          cpu::activation_gradient<kActivation>(output, cpu::load(dy + i, lanes));
      partial[0] += gradient;
      partial[1] += gradient * deviation;
    });
  }

  void finish(const Tile& tile) {
    const double share = 1.0 / static_cast<double>(tiling_.rows());
    for (std::int64_t c = tile.column_begin; c < tile.column_end; ++c) {
      const double sum = sums_.total(0, c);
      const double normalised_sum = sums_.total(1, c) * double{inverse()[c]};
      gradient_mean()[c] = static_cast<float>(sum * share);
      projection()[c] = static_cast<float>(normalised_sum * share * double{inverse()[c]});
      if (dgamma_ == nullptr) continue;
      const bool add = accumulation_ == Accumulation::Add;
      dgamma_[c] = static_cast<float>((add ? double{dgamma_[c]} : 0.0) + normalised_sum);
      dbeta_[c] = static_cast<float>((add ? double{dbeta_[c]} : 0.0) + sum);
    }
  }

  // dx = gamma / sqrt(variance + eps) * (dy - mean(dy) - xhat * mean(dy * xhat))
  void apply(const Tile& tile) {
    const T *x = x_, *dy = dy_;
    T* dx = dx_;
    const float *mean = mean_, *scale_values = scale(), *beta = beta_;
    const float *dy_mean = gradient_mean(), *slope = projection();
    for_each_element(tile, tiling_.columns(), [=](std::int64_t i, std::int64_t c, auto lanes) {
      const Float8 scale_value = cpu::load(scale_values + c, lanes);
      const Float8 deviation = cpu::load(x + i, lanes) - cpu::load(mean + c, lanes);
      const Float8 output = deviation * scale_value + cpu::load(beta + c, lanes);
      const Float8 gradient =
          cpu::activation_gradient<kActivation>(output, cpu::load(dy + i, lanes));
      const Float8 centered = gradient - cpu::load(dy_mean + c, lanes);
      cpu::store(dx + i, scale_value * (centered - deviation * cpu::load(slope + c, lanes)), lanes);
    });
  }

  const T *x_, *dy_;
  T* dx_;
  const float *gamma_, *beta_, *mean_, *variance_;
  float *dgamma_, *dbeta_;
  Accumulation accumulation_;
  cpu::Tiling tiling_;
  cpu::ColumnSums<2> sums_;
  ChannelConstants<4> constants_;
};

// Calls run(type, activation, rows, channels) with the first two as compile-time constants.
template <typename Run>
void visit_batch_norm(const Tensor& x, Activation activation, const Run& run) {
  const std::int64_t channels = x.shape.back();
  if (x.count() == 0) return;
  visit_dtype(x.dtype, [&](auto type) {
    cpu::visit_activation(activation,
                          [&](auto kind) { run(type, kind, x.count() / channels, channels); });
  });
}

}  // namespace

void CpuBackend::batch_norm_forward(const BatchNormForward& a) {
  const Shape per_channel{a.x.shape.back()};
  ACGAN_CHECK(a.y.shape == a.x.shape && a.x.count() > 0);
  ACGAN_CHECK(a.gamma.shape == per_channel && a.beta.shape == per_channel);
  ACGAN_CHECK(a.mean.shape == per_channel && a.variance.shape == per_channel);
  visit_batch_norm(a.x, a.activation, [&]<typename T>(T, auto kind, auto rows, auto channels) {
    ForwardPass<T, kind()>(a, rows, channels).run(threads());
  });
}

void CpuBackend::batch_norm_backward(const BatchNormBackward& a) {
  const Shape per_channel{a.x.shape.back()};
  ACGAN_CHECK(a.dy.shape == a.x.shape && a.dx.shape == a.x.shape && a.x.count() > 0);
  ACGAN_CHECK(a.gamma.shape == per_channel && a.beta.shape == per_channel);
  ACGAN_CHECK(a.mean.shape == per_channel && a.variance.shape == per_channel);
  ACGAN_CHECK(bool{a.dgamma} == bool{a.dbeta});
  if (a.dgamma) ACGAN_CHECK(a.dgamma.shape == per_channel && a.dbeta.shape == per_channel);
  visit_batch_norm(a.x, a.activation, [&]<typename T>(T, auto kind, auto rows, auto channels) {
    BackwardPass<T, kind()>(a, rows, channels).run(threads());
  });
}

void CpuBackend::batch_norm_apply(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                                  const Tensor& running_mean, const Tensor& running_variance,
                                  Activation activation, const Tensor& y) {
  const Shape per_channel{x.shape.back()};
  ACGAN_CHECK(y.shape == x.shape);
  ACGAN_CHECK(gamma.shape == per_channel && beta.shape == per_channel);
  ACGAN_CHECK(running_mean.shape == per_channel && running_variance.shape == per_channel);
  visit_batch_norm(x, activation, [&]<typename T>(T, auto kind, auto rows, auto channels) {
    const float* variance = running_variance.as<float>();
    std::vector<float> scale(static_cast<std::size_t>(channels));
    cpu::for_each_vector(std::int64_t{0}, channels, [&](std::int64_t c, auto lanes) {
      const Float8 inverse = inverse_deviation(cpu::load(variance + c, lanes));
      cpu::store(scale.data() + c, cpu::load(gamma.as<float>() + c, lanes) * inverse, lanes);
    });
    const cpu::Tiling tiling(rows, channels);
    tiling.for_each_tile(threads(), [&](const Tile& tile) {
      normalise_tile<T, kind()>(tile, channels, x.as<T>(), running_mean.as<float>(), scale.data(),
                                beta.as<float>(), y.as<T>());
    });
  });
}

}  // namespace acgan
