#include "support/tensor_fixture.h"

#include <cstdlib>
#include <exception>
#include <sstream>

#include "backend/open_backend.h"

namespace acgan::test {
std::vector<std::string> backend_names() {
  const char* chosen = std::getenv("ACGAN_TEST_BACKENDS");
  if (chosen == nullptr || *chosen == '\0') return {"host", "packed", "onednn"};
  std::vector<std::string> names;
  std::istringstream list(chosen);
  for (std::string name; std::getline(list, name, ',');) names.push_back(name);
  return names;
}

ConvLibrary tested_conv_library() {
  const char* chosen = std::getenv("ACGAN_TEST_CONV");
  const std::string name = chosen == nullptr ? "" : chosen;
  return name == "cudnn" ? ConvLibrary::Cudnn : ConvLibrary::Handwritten;
}

TensorFixture::TensorFixture() : TensorFixture(GENERATE(from_range(backend_names()))) {}

TensorFixture::TensorFixture(const std::string& backend_name)
    : backend_name_(backend_name),
      message_(Catch::MessageBuilder("INFO", CATCH_INTERNAL_LINEINFO, Catch::ResultWas::Info)
               << "backend " << backend_name),
      backend_(open_backend({.device = backend_name, .conv = tested_conv_library()}).backend) {}

TensorFixture::~TensorFixture() noexcept(false) {
  if (std::uncaught_exceptions() > 0) return;
  for (const Entry& entry : entries_) {
    const bool intact = entry.tensor.guards_intact();
    const bool unchanged = entry.frozen.empty() || entry.frozen == entry.tensor.read_bytes();
    if (intact && unchanged) continue;
    INFO("tensor " << entry.tensor.view().shape.text() << " "
                   << name_of(entry.tensor.view().dtype));
    CHECK(intact);
    CHECK(unchanged);
  }
}

Tensor TensorFixture::input(const Shape& shape, DType dtype, const std::vector<double>& values) {
  const Tensor view = in_out(shape, dtype, values);
  entries_.back().frozen = entries_.back().tensor.read_bytes();
  return view;
}

Tensor TensorFixture::output(const Shape& shape, DType dtype) {
  entries_.push_back({GuardedTensor(backend(), shape, dtype, placement_), {}});
  return entries_.back().tensor.view();
}

Tensor TensorFixture::in_out(const Shape& shape, DType dtype, const std::vector<double>& values) {
  const Tensor view = output(shape, dtype);
  entries_.back().tensor.write(values);
  return view;
}

std::vector<std::byte> TensorFixture::read_bytes(const Tensor& tensor) const {
  std::vector<std::byte> bytes(tensor.bytes());
  backend_->download(bytes.data(), tensor);
  return bytes;
}

std::vector<double> TensorFixture::read(const Tensor& tensor) const {
  return decode(read_bytes(tensor), tensor.dtype);
}

}  // namespace acgan::test
