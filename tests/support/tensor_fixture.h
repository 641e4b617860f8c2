#pragma once

#include <catch2/catch.hpp>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "backend/cuda_module.h"
#include "support/guarded_tensor.h"

namespace acgan::test {

// The backends that operation tests run on: ACGAN_TEST_BACKENDS (names with commas between), else
// all that work on every machine.
std::vector<std::string> backend_names();

// Who computes convolutions on the emulated device and on a GPU: ACGAN_TEST_CONV (handwritten or
// cudnn), else our kernels.
ConvLibrary tested_conv_library();

// Runs a test case once for each backend. Tensors made here lie between guard bands; at the end of
// the test the bands must be intact and the inputs unchanged.
class TensorFixture {
 public:
  TensorFixture();
  explicit TensorFixture(const std::string& backend_name);
  ~TensorFixture() noexcept(false);
  TensorFixture(const TensorFixture&) = delete;
  TensorFixture& operator=(const TensorFixture&) = delete;

 protected:
  Tensor input(const Shape& shape, DType dtype, const std::vector<double>& values);
  Tensor output(const Shape& shape, DType dtype);  // starts as NaN
  Tensor in_out(const Shape& shape, DType dtype, const std::vector<double>& values);
  std::vector<double> read(const Tensor& tensor) const;
  std::vector<std::byte> read_bytes(const Tensor& tensor) const;

  Backend& backend() const { return *backend_; }
  const std::string& backend_name() const { return backend_name_; }
  // Whether the backend computes on a device, which cannot throw where an index is out of range: it
  // stays in bounds and gives NaN (or -1) instead.
  bool on_device() const {
    return backend_name_.starts_with("cuda") || backend_name_.starts_with("emulated");
  }
  // Whether convolutions round as cuDNN does: a result before its bias is added, and the gradient
  // of 16-bit weights.
  bool rounds_as_cudnn() const {
    return on_device() && tested_conv_library() == ConvLibrary::Cudnn;
  }
  void place(Placement placement) { placement_ = placement; }  // of the tensors made from here on

 private:
  struct Entry {
    GuardedTensor tensor;
    std::vector<std::byte> frozen;  // contents of an input; empty: may change
  };

  std::string backend_name_;
  Catch::ScopedMessage message_;  // names the backend in failures
  std::unique_ptr<Backend> backend_;
  std::deque<Entry> entries_;
  Placement placement_ = Placement::Aligned;
};

// A fixture on the reference backend alone.
class HostFixture : public TensorFixture {
 public:
  HostFixture() : TensorFixture("host") {}
};

}  // namespace acgan::test
