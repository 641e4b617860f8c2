#include <algorithm>

#include "backend/host/host_backend.h"
#include "backend/host/host_values.h"
#include "backend/pooling.h"

namespace acgan {
namespace {

// Calls body(index in large, index in small) for every element of large [N,H,W,C].
template <typename Body>
void for_each_pooled(const Shape& large, const Body& body) {
  const std::int64_t height = large[1], width = large[2], channels = large[3];
  const std::int64_t small_height = (height + 1) / 2, small_width = (width + 1) / 2;
  for (std::int64_t i = 0; i < large.count(); ++i) {
    const std::int64_t c = i % channels, w = i / channels % width;
    const std::int64_t h = i / channels / width % height, n = i / channels / width / height;
    body(static_cast<std::size_t>(i),
         static_cast<std::size_t>(((n * small_height + h / 2) * small_width + w / 2) * channels +
                                  c));
  }
}

}  // namespace

void HostBackend::pool2(const Tensor& large, float scale, const Tensor& small) {
  check_pooling(large, small);
  const std::vector<double> values = host::widen(large);
  std::vector<double> sums(static_cast<std::size_t>(small.count()), 0.0);
  for_each_pooled(large.shape, [&](std::size_t from, std::size_t to) { sums[to] += values[from]; });
  for (double& sum : sums) sum *= double{scale};
  host::store(small, sums);
}

void HostBackend::unpool2(const Tensor& small, float scale, const Tensor& large) {
  check_pooling(large, small);
  const std::vector<double> values = host::widen(small);
  std::vector<double> spread(static_cast<std::size_t>(large.count()));
  for_each_pooled(large.shape, [&](std::size_t to, std::size_t from) {
    spread[to] = double{scale} * values[from];
  });
  host::store(large, spread);
}

}  // namespace acgan
