#include <limits>

#include "cuda/kernels.h"
#include "cuda/tile/numeric.cuh"

namespace acgan::cuda {
namespace {

constexpr unsigned kRowsPerBlock = 8;  // one warp a row: no division to find row and column

template <typename T>
__global__ void concat_one_hot_kernel(const float* z, const std::int32_t* labels, T* y,
                                      std::int64_t rows, std::int64_t width, std::int64_t classes) {
  const std::int64_t row = std::int64_t{blockIdx.x} * kRowsPerBlock + threadIdx.y;
  if (row >= rows) return;
  const std::int64_t label = labels[row];
  // A label that does not exist is not hidden: its row turns NaN, and so does the loss.
  const float hot = label >= 0 && label < classes ? 1.0f : std::numeric_limits<float>::quiet_NaN();
  const float cold = hot == hot ? 0.0f : hot;
  for (std::int64_t i = threadIdx.x; i < width + classes; i += 32) {
    const float value = i < width ? z[row * width + i] : i - width == label ? hot : cold;
    y[row * (width + classes) + i] = narrow<T>(value);
  }
}

}  // namespace

void launch_concat_one_hot(const Tensor& z, const Tensor& labels, const Tensor& y, Stream stream) {
  const std::int64_t rows = z.rows();
  if (rows == 0) return;
  const std::int64_t width = z.shape[1];
  const dim3 grid{static_cast<unsigned>((rows + kRowsPerBlock - 1) / kRowsPerBlock), 1, 1};
  visit_dtype(y.dtype, [&]<typename T>(T) {
    launch(concat_one_hot_kernel<T>, grid, dim3{32, kRowsPerBlock, 1}, 0, stream, z.as<float>(),
           labels.as<std::int32_t>(), y.as<T>(), rows, width, y.shape[1] - width);
  });
}

}  // namespace acgan::cuda
