#include "backend/host/host_backend.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "backend/host/host_values.h"
#include "backend/kept_work.h"
#include "base/error.h"

namespace acgan {
namespace {

constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kLargeBytes = std::size_t{1} << 20;  // whole pages from here on
constexpr std::size_t kAddressableBytes = std::size_t{1} << 47;
constexpr std::size_t kMebibyte = std::size_t{1} << 20;

bool is_floating(DType dtype) {
  return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16;
}

std::int64_t checked_index(std::int32_t index, std::int64_t count) {
  ACGAN_CHECK(index >= 0 && index < count);
  return index;
}

// Reads at once: operations have run when they return.
class HostReadback final : public Readback {
 public:
  explicit HostReadback(std::vector<Tensor> sources) : sources_(std::move(sources)) {
    std::size_t bytes = 0;
    for (const Tensor& source : sources_) bytes += source.bytes();
    bytes_.resize(bytes);
  }

  void start() override {
    std::byte* destination = bytes_.data();
    for (const Tensor& source : sources_) {
      std::memcpy(destination, source.data, source.bytes());
      destination += source.bytes();
    }
    time_ = std::chrono::steady_clock::now();
  }
  bool is_ready() const override { return true; }
  void wait() override {}
  std::span<const std::byte> bytes() const override { return bytes_; }
  double milliseconds_since(const Readback& earlier) const override {
    const auto& other = dynamic_cast<const HostReadback&>(earlier);
    return std::chrono::duration<double, std::milli>(time_ - other.time_).count();
  }

 private:
  std::vector<Tensor> sources_;
  std::vector<std::byte> bytes_;
  std::chrono::steady_clock::time_point time_{};
};

}  // namespace

std::string HostBackend::description() const {
  return "host, plain loops on one thread; sums in float64, fp16 and bf16 are storage only";
}

void* HostBackend::allocate(std::size_t bytes) {
  const std::size_t alignment = bytes >= kLargeBytes ? kPage : kCacheLine;
  void* memory = nullptr;
  if (bytes <= kAddressableBytes) {
    const std::size_t whole = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment;
    memory = std::aligned_alloc(alignment, whole * alignment);
  }
  if (memory == nullptr) {
    fail(ErrorKind::Device,
         "out of memory: {} MiB of main memory were asked for and could not be had; use a smaller "
         "batch",
         bytes / kMebibyte);
  }
  std::memset(memory, 0, bytes);
  return memory;
}

void HostBackend::release(void* memory) noexcept { std::free(memory); }

std::unique_ptr<CapturedWork> HostBackend::capture(std::function<void()> work) {
  return std::make_unique<KeptWork>(std::move(work));
}

std::unique_ptr<Readback> HostBackend::make_readback(std::vector<Tensor> sources) {
  return std::make_unique<HostReadback>(std::move(sources));
}

void HostBackend::upload(const Tensor& destination, const void* host) {
  if (destination.bytes() > 0) std::memcpy(destination.data, host, destination.bytes());
}

void HostBackend::download(void* host, const Tensor& source) {
  if (source.bytes() > 0) std::memcpy(host, source.data, source.bytes());
}

void HostBackend::copy(const Tensor& source, const Tensor& destination) {
  ACGAN_CHECK(source.shape == destination.shape && source.dtype == destination.dtype);
  if (source.bytes() > 0) std::memmove(destination.data, source.data, source.bytes());
}

void HostBackend::zero(const Tensor& destination) {
  if (destination.bytes() > 0) std::memset(destination.data, 0, destination.bytes());
}

void HostBackend::cast(const Tensor& source, const Tensor& destination) {
  ACGAN_CHECK(source.shape == destination.shape);
  ACGAN_CHECK(is_floating(source.dtype) && is_floating(destination.dtype));
  host::store(destination, host::widen(source));
}

void HostBackend::activation_forward(const Tensor& x, Activation activation, const Tensor& y) {
  ACGAN_CHECK(x.shape == y.shape && x.dtype == y.dtype);
  std::vector<double> values = host::widen(x);
  for (double& value : values) value = host::activate(value, activation);
  host::store(y, values);
}

void HostBackend::activation_backward(const Tensor& y, const Tensor& dy, Activation activation,
                                      const Tensor& dx) {
  ACGAN_CHECK(y.shape == dy.shape && y.shape == dx.shape);
  ACGAN_CHECK(y.dtype == dy.dtype && y.dtype == dx.dtype);
  const std::vector<double> value = host::widen(y);
  std::vector<double> gradient = host::widen(dy);
  for (std::size_t i = 0; i < value.size(); ++i) {
    gradient[i] *= host::activation_slope(value[i], activation);
  }
  host::store(dx, gradient);
}

void HostBackend::sigmoid_forward(const Tensor& x, const Tensor& y) {
  ACGAN_CHECK(x.shape == y.shape && x.dtype == y.dtype);
  std::vector<double> values = host::widen(x);
  for (double& value : values) value = 1.0 / (1.0 + std::exp(-value));
  host::store(y, values);
}

void HostBackend::sigmoid_backward(const Tensor& y, const Tensor& dy, const Tensor& dx) {
  ACGAN_CHECK(y.shape == dy.shape && y.shape == dx.shape);
  ACGAN_CHECK(y.dtype == dy.dtype && y.dtype == dx.dtype);
  const std::vector<double> value = host::widen(y);
  std::vector<double> gradient = host::widen(dy);
  for (std::size_t i = 0; i < value.size(); ++i) gradient[i] *= value[i] * (1.0 - value[i]);
  host::store(dx, gradient);
}

void HostBackend::add(const Tensor& a, const Tensor& b, const Tensor& y) {
  ACGAN_CHECK(a.shape == b.shape && a.shape == y.shape);
  ACGAN_CHECK(a.dtype == b.dtype && a.dtype == y.dtype);
  std::vector<double> sum = host::widen(a);
  const std::vector<double> other = host::widen(b);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
  host::store(y, sum);
}

void HostBackend::concat_one_hot(const Tensor& z, const Tensor& labels, const Tensor& y) {
  ACGAN_CHECK(z.shape.rank() == 2 && y.shape.rank() == 2 && z.dtype == DType::F32);
  const std::int64_t width = z.shape[1];
  const std::int64_t classes = y.shape[1] - width;
  ACGAN_CHECK(classes > 0 && y.shape[0] == z.shape[0] && labels.shape == Shape{z.shape[0]});
  const float* latents = z.as<float>();
  const std::int32_t* label = labels.as<std::int32_t>();
  std::vector<double> rows;
  rows.reserve(static_cast<std::size_t>(y.count()));
  for (std::int64_t n = 0; n < z.shape[0]; ++n) {
    const std::int64_t hot = checked_index(label[n], classes);
    rows.insert(rows.end(), latents + n * width, latents + (n + 1) * width);
    for (std::int64_t k = 0; k < classes; ++k) rows.push_back(k == hot ? 1.0 : 0.0);
  }
  host::store(y, rows);
}

void HostBackend::random_uniform(const RandomState* state, RandomStream stream,
                                 const Tensor& destination) {
  float* values = destination.as<float>();
  std::array<std::uint32_t, 4> words{};
  for (std::int64_t i = 0; i < destination.count(); ++i) {
    const auto word = static_cast<std::size_t>(i % 4);
    if (word == 0) {
      words = philox_block(state->seed, stream, state->step, static_cast<std::uint32_t>(i / 4));
    }
    values[i] = uniform_symmetric(words[word]);
  }
}

void HostBackend::advance_random(RandomState* state) { ++state->step; }

void HostBackend::draw_labels(const RandomState* state, std::int64_t classes,
                              const Tensor& destination) {
  ACGAN_CHECK(destination.dtype == DType::I32 && classes > 0);
  std::int32_t* labels = destination.as<std::int32_t>();
  for (std::int64_t i = 0; i < destination.count(); ++i) {
    const auto words = philox_block(state->seed, RandomStream::FakeLabels, state->step,
                                    static_cast<std::uint32_t>(i / 4));
    labels[i] =
        integer_between(words[static_cast<std::size_t>(i % 4)], 0, static_cast<int>(classes) - 1);
  }
}

void HostBackend::gather_images(const Tensor& images, const Tensor& indices, float divisor,
                                const Tensor& destination) {
  ACGAN_CHECK(images.shape.rank() == 4 && destination.shape.rank() == 4);
  ACGAN_CHECK(indices.shape == Shape{destination.shape[0]});
  for (int axis = 1; axis < 4; ++axis) ACGAN_CHECK(images.shape[axis] == destination.shape[axis]);
  const std::int64_t size = destination.shape[1] * destination.shape[2] * destination.shape[3];
  const std::uint8_t* pixels = images.as<std::uint8_t>();
  const std::int32_t* index = indices.as<std::int32_t>();
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(destination.count()));
  for (std::int64_t n = 0; n < destination.shape[0]; ++n) {
    const std::uint8_t* image = pixels + checked_index(index[n], images.shape[0]) * size;
    for (std::int64_t i = 0; i < size; ++i) values.push_back(image[i] / double{divisor});
  }
  host::store(destination, values);
}

void HostBackend::gather_labels(const Tensor& labels, const Tensor& indices,
                                const Tensor& destination) {
  ACGAN_CHECK(labels.shape.rank() == 1 && indices.shape.rank() == 1);
  ACGAN_CHECK(indices.shape == destination.shape);
  const std::int32_t* from = labels.as<std::int32_t>();
  const std::int32_t* index = indices.as<std::int32_t>();
  std::int32_t* to = destination.as<std::int32_t>();
  for (std::int64_t n = 0; n < destination.count(); ++n) {
    to[n] = from[checked_index(index[n], labels.shape[0])];
  }
}

}  // namespace acgan
