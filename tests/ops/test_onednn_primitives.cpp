#include <catch2/catch.hpp>

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "backend/buffer.h"
#include "backend/onednn/onednn_backend.h"
#include "support/guarded_tensor.h"
#include "support/test_values.h"

namespace acgan::test {
namespace {

constexpr int kThreads = 2;

Tensor filled(const OwnedTensor& tensor, unsigned seed) {
  const Tensor& view = tensor.view();
  const std::vector<double> values = random_values(view.count(), seed);
  std::transform(values.begin(), values.end(), view.as<float>(),
                 [](double value) { return static_cast<float>(value); });
  return view;
}

OwnedTensor random_tensor(Backend& backend, const Shape& shape, unsigned seed) {
  OwnedTensor tensor(backend, shape, DType::F32);
  filled(tensor, seed);
  return tensor;
}

// ||a - b|| / ||b||
double distance(const Tensor& a, const Tensor& b) {
  double difference = 0.0;
  double length = 0.0;
  for (std::int64_t i = 0; i < b.count(); ++i) {
    const double d = double{a.as<float>()[i]} - double{b.as<float>()[i]};
    difference += d * d;
    length += double{b.as<float>()[i]} * double{b.as<float>()[i]};
  }
  return std::sqrt(difference / length);
}

ConvGeometry halving(std::int64_t side, std::int64_t in_c, std::int64_t out_c) {
  return {.in_h = side,
          .in_w = side,
          .in_c = in_c,
          .out_h = side / 2,
          .out_w = side / 2,
          .out_c = out_c};
}

// All that layers of the network ask of a convolution: 5 primitives.
void run_convolution(Backend& backend, const ConvGeometry& g, std::int64_t n) {
  const OwnedTensor x(backend, {n, g.in_h, g.in_w, g.in_c}, DType::F32);
  const OwnedTensor y(backend, {n, g.out_h, g.out_w, g.out_c}, DType::F32);
  const OwnedTensor w(backend, {g.out_c, g.kernel, g.kernel, g.in_c}, DType::F32);
  const OwnedTensor bias(backend, {g.out_c}, DType::F32);
  backend.conv2d_forward(g, x.view(), w.view(), bias.view(), Activation::LeakyRelu, y.view());
  backend.conv2d_forward(g, x.view(), w.view(), {}, Activation::None, y.view());
  backend.conv2d_backward_data(g, y.view(), w.view(), {}, x.view());
  backend.conv2d_backward_weight(g, x.view(), y.view(), w.view(), Accumulation::Overwrite);
  backend.conv2d_backward_weight(g, x.view(), y.view(), w.view(), Accumulation::Add);
}

// All that layers of the network ask of a dense layer: 6 primitives.
void run_dense(Backend& backend, std::int64_t in, std::int64_t out, std::int64_t n) {
  const OwnedTensor x(backend, {n, in}, DType::F32);
  const OwnedTensor y(backend, {n, out}, DType::F32);
  const OwnedTensor w(backend, {out, in}, DType::F32);
  const OwnedTensor bias(backend, {out}, DType::F32);
  backend.dense_forward(x.view(), w.view(), bias.view(), y.view());
  backend.dense_forward(x.view(), w.view(), {}, y.view());
  for (const Accumulation accumulation : {Accumulation::Overwrite, Accumulation::Add}) {
    backend.dense_backward_data(y.view(), w.view(), x.view(), accumulation);
    backend.dense_backward_weight(x.view(), y.view(), w.view(), accumulation);
  }
}

void check_no_reference_loops(const OneDnnBackend& backend, std::size_t primitives) {
  const std::vector<std::string> lines = backend.implementations();
  CHECK(lines.size() == primitives);
  for (const std::string& line : lines) {
    INFO(line);
    CHECK(line.find("ref") == std::string::npos);
  }
}

}  // namespace

// The reference loops are a thousand times slower than what they stand in for.
TEST_CASE("oneDNN has fast convolutions for the network's shapes", "[ops][onednn]") {
  OneDnnBackend backend(kThreads);
  const std::int64_t n = GENERATE(2, 64);
  const std::vector<ConvGeometry> shapes = {halving(28, 1, 64), halving(14, 64, 128),
                                            halving(32, 3, 64), halving(16, 64, 128)};
  for (const ConvGeometry& g : shapes) run_convolution(backend, g, n);
  check_no_reference_loops(backend, 5 * shapes.size());
}

TEST_CASE("oneDNN has fast dense layers for the network's shapes", "[ops][onednn]") {
  OneDnnBackend backend(kThreads);
  const std::int64_t n = GENERATE(2, 64);
  const std::vector<std::pair<std::int64_t, std::int64_t>> shapes = {
      {110, 1024}, {1024, 6272}, {6272, 1024}, {1024, 128}, {128, 10}, {1024, 1}, {8192, 1024}};
  for (const auto& [in, out] : shapes) run_dense(backend, in, out, n);
  check_no_reference_loops(backend, 6 * shapes.size());
}

TEST_CASE("odd convolutions in fp32 are oneDNN's", "[ops][onednn]") {
  OneDnnBackend backend(kThreads);
  run_convolution(backend, halving(10, 5, 7), 3);
  run_convolution(backend,
                  {.in_h = 9,
                   .in_w = 7,
                   .in_c = 3,
                   .out_h = 9,
                   .out_w = 7,
                   .out_c = 5,
                   .kernel = 3,
                   .stride = 1,
                   .pad = 1},
                  3);
  CHECK(backend.implementations().size() == 10);
}

TEST_CASE("16-bit types reach oneDNN only where the processor computes in them", "[ops][onednn]") {
  OneDnnBackend backend(kThreads);
  const DType dtype = GENERATE(DType::F16, DType::BF16);
  CAPTURE(name_of(dtype));
  const OwnedTensor x(backend, {3, 16}, dtype);
  const OwnedTensor w(backend, {8, 16}, dtype);
  const OwnedTensor y(backend, {3, 8}, DType::F32);
  backend.dense_forward(x.view(), w.view(), {}, y.view());
  CHECK(backend.computes_in(dtype) == !backend.implementations().empty());
  CHECK_FALSE(backend.computes_in(DType::F16));
  CHECK(backend.computes_in(DType::F32));
}

TEST_CASE("oneDNN's description names threads and library", "[ops][onednn]") {
  const std::string text = OneDnnBackend(kThreads).description();
  CHECK(text.find("cpu, 2 threads, ") == 0);
  CHECK(text.find("oneDNN 2.") != std::string::npos);
  CHECK(text.find("fp16") != std::string::npos);
  CHECK(OneDnnBackend(1).description().find("1 thread,") != std::string::npos);
}

// Rows of 1024 floats collide in the cache, so this one reads a padded copy of the weights.
TEST_CASE("dense data gradient with colliding rows is right and follows updates", "[ops][onednn]") {
  OneDnnBackend backend(kThreads);
  HostBackend host;
  const std::int64_t n = 33, in = 1024, out = 67;
  const OwnedTensor w = random_tensor(backend, {out, in}, 1);
  const OwnedTensor dy = random_tensor(backend, {n, out}, 2);
  const OwnedTensor dx = random_tensor(backend, {n, in}, 3);
  const OwnedTensor expected = random_tensor(backend, {n, in}, 3);
  for (const Accumulation accumulation : {Accumulation::Overwrite, Accumulation::Add}) {
    backend.dense_backward_data(dy.view(), w.view(), dx.view(), accumulation);
    host.dense_backward_data(dy.view(), w.view(), expected.view(), accumulation);
    CHECK(distance(dx.view(), expected.view()) < 1e-6);
  }
  filled(w, 4);
  backend.weights_updated(w.view());
  backend.dense_backward_data(dy.view(), w.view(), dx.view(), Accumulation::Overwrite);
  host.dense_backward_data(dy.view(), w.view(), expected.view(), Accumulation::Overwrite);
  CHECK(distance(dx.view(), expected.view()) < 1e-6);
}

struct ConvolutionFixture {
  static constexpr std::int64_t kImages = 3;
  const ConvGeometry g = halving(6, 8, 16);
  OneDnnBackend backend{kThreads};
  HostBackend host;
  OwnedTensor x = random_tensor(backend, {kImages, g.in_h, g.in_w, g.in_c}, 1);
  OwnedTensor y{backend, {kImages, g.out_h, g.out_w, g.out_c}, DType::F32};
  OwnedTensor expected{backend, {kImages, g.out_h, g.out_w, g.out_c}, DType::F32};
  const Shape weights{g.out_c, g.kernel, g.kernel, g.in_c};

  double error(Backend& tested, const Tensor& w) {
    tested.conv2d_forward(g, x.view(), w, {}, Activation::None, y.view());
    host.conv2d_forward(g, x.view(), w, {}, Activation::None, expected.view());
    return distance(y.view(), expected.view());
  }
};

TEST_CASE_METHOD(ConvolutionFixture, "an updated range marks all weights in it", "[ops][onednn]") {
  // Two weight arrays in one flat array, as a parameter store has them.
  const OwnedTensor flat = random_tensor(backend, {2 * weights.count()}, 5);
  const Tensor first = flat.view().slice(0, weights.count()).reshaped(weights);
  const Tensor second = flat.view().slice(weights.count(), weights.count()).reshaped(weights);
  CHECK(error(backend, first) < 1e-6);
  CHECK(error(backend, second) < 1e-6);
  filled(flat, 6);
  // Without the call the copies are used on: this is what makes it necessary, and them useful.
  CHECK(error(backend, second) > 0.1);
  backend.weights_updated(first);
  CHECK(error(backend, first) < 1e-6);
  CHECK(error(backend, second) > 0.1);
  filled(flat, 7);
  backend.weights_updated(flat.view());
  CHECK(error(backend, first) < 1e-6);
  CHECK(error(backend, second) < 1e-6);
}

TEST_CASE_METHOD(ConvolutionFixture, "weights in memory that was released are not remembered",
                 "[ops][onednn]") {
  OwnedTensor w = random_tensor(backend, weights, 8);
  CHECK(error(backend, w.view()) < 1e-6);
  filled(w, 9);
  { const OwnedTensor released(backend, {64}, DType::F32); }
  CHECK(error(backend, w.view()) < 1e-6);
}

// oneDNN takes the number of threads from OpenMP, which keeps it for each calling thread.
TEST_CASE_METHOD(ConvolutionFixture, "backends with other threads do not disturb each other",
                 "[ops][onednn]") {
  const OwnedTensor w = random_tensor(backend, weights, 10);
  CHECK(error(backend, w.view()) < 1e-6);
  OneDnnBackend single(1);
  CHECK(error(single, w.view()) < 1e-6);
  CHECK(error(backend, w.view()) < 1e-6);
  double elsewhere = 1.0;
  std::thread([&] { elsewhere = error(backend, w.view()); }).join();
  CHECK(elsewhere < 1e-6);

  int used = 0;
  std::thread([&] {
    omp_set_num_threads(3);
    elsewhere = error(single, w.view());
    used = omp_get_max_threads();
  }).join();
  CHECK(elsewhere < 1e-6);
  CHECK(used == 1);
}

TEST_CASE_METHOD(ConvolutionFixture, "the same call gives the same bits", "[ops][onednn]") {
  const OwnedTensor w(backend, weights, DType::F32);
  error(backend, random_tensor(backend, weights, 11).view());
  backend.conv2d_backward_weight(g, x.view(), y.view(), w.view(), Accumulation::Overwrite);
  const std::vector<float> first(w.view().as<float>(), w.view().as<float>() + weights.count());
  backend.conv2d_backward_weight(g, x.view(), y.view(), w.view(), Accumulation::Overwrite);
  CHECK(std::equal(first.begin(), first.end(), w.view().as<float>()));
}

}  // namespace acgan::test
