#include <catch2/catch.hpp>

#include "backend/host/host_backend.h"
#include "backend/profiling_backend.h"
#include "base/error.h"
#include "support/guarded_tensor.h"

namespace acgan::test {
namespace {

using Values = std::vector<double>;

class ProfilingFixture {
 protected:
  ProfilingBackend backend{std::make_unique<HostBackend>()};
  GuardedTensor x{backend, {2, 3}, DType::F32};
  GuardedTensor w{backend, {1, 3}, DType::F32};
  GuardedTensor y{backend, {2, 1}, DType::F32};

  std::size_t count_of(const std::string& text) const {
    const std::string report = backend.report();
    std::size_t found = 0;
    for (auto at = report.find(text); at != std::string::npos; at = report.find(text, at + 1)) {
      ++found;
    }
    return found;
  }
};

}  // namespace

TEST_CASE_METHOD(ProfilingFixture, "profiling gives the results of the backend behind it",
                 "[ops][profiling]") {
  x.write({1.0, 2.0, 3.0, -1.0, -2.0, -4.0});
  w.write({1.0, 1.0, 2.0});
  backend.dense_forward(x.view(), w.view(), {}, y.view());
  CHECK(y.read() == Values{9.0, -11.0});
  CHECK(backend.name() == "host");
  CHECK(backend.computes_in(DType::F32));
  CHECK_FALSE(backend.computes_in(DType::F16));
}

TEST_CASE_METHOD(ProfilingFixture, "profiling sums calls by operation and shape",
                 "[ops][profiling]") {
  x.write(Values(6, 1.0));
  w.write(Values(3, 1.0));
  backend.reset();
  CHECK(count_of("\n") == 1);  // the heading
  for (int call = 0; call < 3; ++call) backend.dense_forward(x.view(), w.view(), {}, y.view());
  backend.zero(y.view());
  backend.zero(x.view());
  CHECK(count_of("\n") == 4);
  CHECK(count_of("dense_forward 3-> fp32 [2,1]") == 1);
  CHECK(count_of("zero fp32 [2,3]") == 1);
  CHECK(count_of("zero fp32 [2,1]") == 1);
  const std::string report = backend.report();
  const auto line = report.find("dense_forward");
  CHECK(report.substr(line, report.find('\n', line) - line).find(" 3 ") != std::string::npos);
}

TEST_CASE_METHOD(ProfilingFixture, "profiling lets errors through", "[ops][profiling]") {
  CHECK_THROWS_AS(backend.dense_forward(y.view(), w.view(), {}, y.view()), std::logic_error);
  CHECK_THROWS_AS(Buffer(backend, std::size_t{1} << 60), Error);
}

}  // namespace acgan::test
