// Runs the golden traces of a folder through the training step and compares losses, gradients,
// parameters, statistics and images with the float64 values. Exit code 1 where one is over its
// limit.
//
//   golden_trace DIR [--case A] [--device cpu|host|packed|onednn|cuda|emulated]
//     [--precision fp32|mixed] [--half fp16|bf16] [--conv auto|handwritten|cudnn]

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <span>

#include "backend/open_backend.h"
#include "base/error.h"
#include "train/golden_case.h"
#include "train/sampler.h"
#include "train/train_step.h"

namespace acgan::test {
namespace {

// Limits of the traces' README, by kind of comparison. bf16 has 8 times the rounding error of fp16,
// so where rounding decides its limits are wider; the README states none for it.
struct Limits {
  double loss, gradient, gradient_median, cosine, length, null_bias, fake, logits;
  double parameter1, parameter3, share, update1, update3, mean1, mean3, variance, eval;
};
constexpr double kUnlimited = 1e300;
constexpr Limits kFp32{.loss = 1e-5,
                       .gradient = 2e-4,
                       .gradient_median = 5e-5,
                       .cosine = 1e-8,
                       .length = 1e-4,
                       .null_bias = 1e-3,
                       .fake = 1e-5,
                       .logits = 1e-4,
                       .parameter1 = 8.01e-4,
                       .parameter3 = 2.4e-3,
                       .share = 5e-4,
                       .update1 = 1e-3,
                       .update3 = 1e-3,
                       .mean1 = 2e-4,
                       .mean3 = 1e-3,
                       .variance = 1e-4,
                       .eval = 5e-4};
constexpr Limits kFp16{.loss = 5e-3,
                       .gradient = 0.35,
                       .gradient_median = 0.2,
                       .cosine = 0.03,
                       .length = 0.08,
                       .null_bias = 0.1,
                       .fake = 5e-3,
                       .logits = 3e-2,
                       .parameter1 = 8.01e-4,
                       .parameter3 = 2.4e-3,
                       .share = kUnlimited,
                       .update1 = 0.1,
                       .update3 = 0.25,
                       .mean1 = 2e-3,
                       .mean3 = 1e-2,
                       .variance = 2e-2,
                       .eval = 5e-3};
constexpr Limits kBf16{.loss = 2e-2,
                       .gradient = 0.7,
                       .gradient_median = 0.35,
                       .cosine = 0.1,
                       .length = 0.15,
                       .null_bias = 0.1,
                       .fake = 2e-2,
                       .logits = 0.12,
                       .parameter1 = 8.01e-4,
                       .parameter3 = 2.4e-3,
                       .share = kUnlimited,
                       .update1 = 0.2,
                       .update3 = 0.3,
                       .mean1 = 8e-3,
                       .mean3 = 2e-2,
                       .variance = 5e-2,
                       .eval = 2e-2};

struct Arguments {
  std::string folder, device = "cpu";
  std::optional<std::string> only;
  DType compute = DType::F32;
  bool mixed = false;
  ConvLibrary conv = ConvLibrary::Auto;
};

// Collects comparisons; prints each with its limit.
class Report {
 public:
  void check(const std::string& what, double error, double limit) {
    const bool ok = error <= limit;  // false for NaN
    failures_ += ok ? 0 : 1;
    if (limit < kUnlimited)
      std::printf("  %-44s %10.2e  limit %8.1e%s\n", what.c_str(), error, limit,
                  ok ? "" : "  OVER");
  }
  int failures() const { return failures_; }

 private:
  int failures_ = 0;
};

double worst_absolute(std::span<const double> found, std::span<const double> expected) {
  ACGAN_CHECK(found.size() == expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double error = std::abs(found[i] - expected[i]);
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

struct Products {
  double ff = 0, fe = 0, ee = 0, dd = 0;
  void add(std::span<const double> found, std::span<const double> expected) {
    ACGAN_CHECK(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double difference = found[i] - expected[i];
      ff += found[i] * found[i];
      fe += found[i] * expected[i];
      ee += expected[i] * expected[i];
      dd += difference * difference;
    }
  }
  double relative() const { return std::sqrt(dd / ee); }
  double one_minus_cosine() const { return 1 - fe / std::sqrt(ff * ee); }
  double length_off() const { return std::abs(fe / ee - 1); }
};

double largest(std::span<const double> values) {
  double result = 0;
  for (const double value : values) result = std::max(result, std::abs(value));
  return result;
}

// One case on one backend.
class Trace {
 public:
  Trace(const GoldenCase& golden, Backend& backend, const Arguments& arguments, Report& report);
  void run();

 private:
  TrainStepOptions step_options(const Arguments& arguments) const;
  void load_initial();
  void run_step(std::int64_t index);
  void compare_losses();
  void compare_gradients(const Adam& optimizer, const std::string& loss);
  void compare_first_pass();
  void compare_second_pass();
  void compare_parameters(int after);
  void compare_statistics(int after);
  void compare_eval();
  std::vector<double> read(const Tensor& tensor) const;

  const GoldenCase& golden_;
  Backend& backend_;
  Report& report_;
  const Limits& limits_;
  TrainStep step_;
  OwnedTensor images_, labels_;
  std::vector<StepMetrics> metrics_;
};

TrainStepOptions Trace::step_options(const Arguments& arguments) const {
  AdamOptions adam;
  adam.constants = {.beta1 = static_cast<float>(golden_.constant("beta1")),
                    .beta2 = static_cast<float>(golden_.constant("beta2")),
                    .epsilon = static_cast<float>(golden_.constant("adam_eps"))};
  adam.learning_rate = static_cast<float>(golden_.constant("lr"));
  adam.init_scale = arguments.mixed ? 128.0f : 1.0f;
  return {.shape = {.image_size = golden_.size("size"),
                    .channels = golden_.size("channels"),
                    .classes = golden_.size("classes"),
                    .widths = {.latent_dim = golden_.size("zdim"),
                               .dense_width = golden_.size("fc"),
                               .conv1_width = golden_.size("c1"),
                               .conv2_width = golden_.size("c2"),
                               .classifier_width = golden_.size("q")}},
          .compute = arguments.compute,
          .objective = Objective::Dgq,
          .batch = golden_.size("batch"),
          .d = adam,
          .g = adam,
          .q = adam,
          .seed = 1,
          .image_divisor = static_cast<float>(golden_.constant("x_divisor"))};
}

Trace::Trace(const GoldenCase& golden, Backend& backend, const Arguments& arguments, Report& report)
    : golden_(golden),
      backend_(backend),
      report_(report),
      limits_(!arguments.mixed                   ? kFp32
              : arguments.compute == DType::BF16 ? kBf16
                                                 : kFp16),
      step_(backend, step_options(arguments)),
      images_(backend,
              {golden.size("steps") * golden.size("batch"), golden.size("size"),
               golden.size("size"), golden.size("channels")},
              DType::U8),
      labels_(backend, {golden.size("steps") * golden.size("batch")}, DType::I32) {
  backend.upload(images_.view(), golden.pixels().data());
  backend.upload(labels_.view(), golden.labels("y").data());
  load_initial();
}

void Trace::load_initial() {
  step_.model().initialize(1);  // running statistics; the parameters are overwritten
  for (Network* network : step_.model().networks()) {
    ParameterStore& store = network->parameters();
    for (int i = 0; i < store.parameters(); ++i) {
      const std::vector<float> values =
          golden_.input("init." + GoldenCase::golden_name(store.parameter_name(i)));
      ACGAN_CHECK(static_cast<std::int64_t>(values.size()) == store.master(i).count());
      backend_.upload(store.master(i), values.data());
    }
    store.refresh_working();
  }
}

std::vector<double> Trace::read(const Tensor& tensor) const {
  OwnedTensor wide(backend_, tensor.shape, DType::F32);
  backend_.cast(tensor, wide.view());
  std::vector<float> host(static_cast<std::size_t>(tensor.count()));
  backend_.download(host.data(), wide.view());
  return {host.begin(), host.end()};
}

void Trace::run() {
  for (std::int64_t index = 0; index < golden_.size("steps"); ++index) run_step(index);
  compare_losses();
  compare_eval();
}

void Trace::run_step(std::int64_t index) {
  const std::int64_t n = golden_.size("batch");
  std::vector<std::int32_t> indices(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i)
    indices[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(index * n + i);
  const std::vector<float> z = golden_.input("z");
  const auto z_size = static_cast<std::size_t>(n * golden_.size("zdim"));
  step_.load_batch(images_.view(), labels_.view(), indices);
  step_.load_latents(std::span(z).subspan(static_cast<std::size_t>(index) * z_size, z_size));

  step_.discriminator_half();
  if (index == 0) compare_first_pass();
  step_.generator_half();
  if (index == 0) compare_second_pass();
  metrics_.push_back(step_.read_metrics());
  if (index == 0 || index == 2) {
    compare_parameters(static_cast<int>(index) + 1);
    compare_statistics(static_cast<int>(index) + 1);
  }
}

void Trace::compare_losses() {
  const auto compare = [&](const std::string& name, const auto& value_of) {
    const std::vector<double> expected = golden_.expected("loss." + name);
    double worst = 0;
    for (std::size_t i = 0; i < metrics_.size(); ++i) {
      worst = std::max(worst, std::abs(value_of(metrics_[i]) / expected[i] - 1));
    }
    report_.check("loss " + name, worst, limits_.loss);
  };
  compare("d", [](const StepMetrics& m) { return double{m.d()}; });
  compare("g", [](const StepMetrics& m) { return double{m.g}; });
  compare("q", [](const StepMetrics& m) { return double{m.q()}; });
  compare("d_real", [](const StepMetrics& m) { return double{m.d_real}; });
  compare("d_fake", [](const StepMetrics& m) { return double{m.d_fake}; });
  compare("q_real", [](const StepMetrics& m) { return double{m.q_real}; });
  compare("q_fake", [](const StepMetrics& m) { return double{m.q_fake}; });
}

void Trace::compare_gradients(const Adam& optimizer, const std::string& loss) {
  const double scale = optimizer.read_state().loss_scale;
  Products whole;
  std::vector<double> errors;
  double worst_null = 0;
  for (const ParameterStore* store : optimizer.stores()) {
    std::map<std::string, double> null_biases;
    double beta_size = 0;
    for (int i = 0; i < store->parameters(); ++i) {
      const std::string name = GoldenCase::golden_name(store->parameter_name(i));
      std::vector<double> found = read(optimizer.gradients(*store).view(i));
      for (double& value : found) value /= scale;
      if (GoldenCase::is_null_bias(name)) {
        null_biases[name] = largest(found);
        continue;
      }
      const std::vector<double> expected = golden_.expected("step1.grad." + loss + "." + name);
      if (name.ends_with(".beta")) beta_size = std::max(beta_size, largest(expected));
      Products tensor;
      tensor.add(found, expected);
      whole.add(found, expected);
      errors.push_back(tensor.relative());
      if (errors.back() > limits_.gradient)
        std::printf("  gradient of %s: %s\n", loss.c_str(), name.c_str());
    }
    for (const auto& [name, size] : null_biases)
      worst_null = std::max(worst_null, size / beta_size);
  }
  std::sort(errors.begin(), errors.end());
  const std::string prefix = "gradient of " + loss + ": ";
  report_.check(prefix + "worst tensor", errors.back(), limits_.gradient);
  report_.check(prefix + "median tensor", errors[errors.size() / 2], limits_.gradient_median);
  report_.check(prefix + "1 - cosine of the whole", whole.one_minus_cosine(), limits_.cosine);
  report_.check(prefix + "length of the whole", whole.length_off(), limits_.length);
  report_.check(prefix + "null biases", worst_null, limits_.null_bias);
}

void Trace::compare_first_pass() {
  const auto n = static_cast<std::size_t>(golden_.size("batch"));
  const std::vector<double> logits = read(step_.source_logits());
  report_.check("step 1: fake images",
                worst_absolute(read(step_.fake_images()), golden_.expected("step1.fake")),
                limits_.fake);
  report_.check("step 1: D's logits, real",
                worst_absolute(std::span(logits).first(n), golden_.expected("step1.d_logit_real")),
                limits_.logits);
  report_.check(
      "step 1: D's logits, fake",
      worst_absolute(std::span(logits).subspan(n), golden_.expected("step1.d_logit_fake")),
      limits_.logits);
  compare_gradients(*step_.optimizers()[0], "d");
}

void Trace::compare_second_pass() {
  const auto half = static_cast<std::size_t>(golden_.size("batch") * golden_.size("classes"));
  const std::vector<double> logits = read(step_.class_logits());
  report_.check(
      "step 1: D's logits, fake, second half",
      worst_absolute(read(step_.fake_source_logits()), golden_.expected("step1.d_logit_fake_p2")),
      limits_.logits);
  report_.check(
      "step 1: class logits, real",
      worst_absolute(std::span(logits).first(half), golden_.expected("step1.q_logit_real")),
      limits_.logits);
  report_.check(
      "step 1: class logits, fake",
      worst_absolute(std::span(logits).subspan(half), golden_.expected("step1.q_logit_fake")),
      limits_.logits);
  compare_gradients(*step_.optimizers()[1], "g");
  compare_gradients(*step_.optimizers()[2], "q");
}

void Trace::compare_parameters(int after) {
  const std::string step = "step" + std::to_string(after);
  double worst = 0, worst_null = 0, over = 0, count = 0;
  std::map<std::string, Products> updates;  // by network: g, d, c
  for (const Network* network : step_.model().networks()) {
    const ParameterStore& store = network->parameters();
    for (int i = 0; i < store.parameters(); ++i) {
      const std::string name = GoldenCase::golden_name(store.parameter_name(i));
      std::vector<double> found = read(store.master(i));
      std::vector<double> expected = golden_.expected(step + ".param." + name);
      const double error = worst_absolute(found, expected);
      if (GoldenCase::is_null_bias(name)) {
        const double bound = (name[0] == 'c' ? 2e-4 : 4e-4) * after;
        worst_null = std::max(worst_null, error / bound);
        continue;
      }
      if (!(error <= worst)) worst = error;
      const std::vector<float> initial = golden_.input("init." + name);
      for (std::size_t j = 0; j < found.size(); ++j) {
        over += std::abs(found[j] - expected[j]) > 2e-5 ? 1 : 0;
        found[j] -= initial[j];
        expected[j] -= initial[j];
      }
      count += static_cast<double>(found.size());
      updates[name.substr(0, 1)].add(found, expected);
    }
  }
  report_.check(step + ": parameters", worst, after == 1 ? limits_.parameter1 : limits_.parameter3);
  report_.check(step + ": share of them off by over 2e-5", over / count, limits_.share);
  report_.check(step + ": null biases, of their bound", worst_null, 1.0);
  for (const auto& [network, products] : updates) {
    const double length = std::abs(std::sqrt(products.ff / products.ee) - 1);
    report_.check(step + ": length of the update of " + network, length,
                  after == 1 ? limits_.update1 : limits_.update3);
  }
}

void Trace::compare_statistics(int after) {
  const std::string step = "step" + std::to_string(after);
  double worst_mean = 0, worst_variance = 0;
  for (const Network* network : step_.model().networks()) {
    const ParameterStore& store = network->parameters();
    for (int i = 0; i < store.statistics(); ++i) {
      const std::string name = GoldenCase::golden_name(store.statistic_name(i));
      const std::vector<double> found = read(store.statistic(i));
      const std::vector<double> expected = golden_.expected(step + ".stats." + name);
      if (name.ends_with(".mean")) {
        worst_mean = std::max(worst_mean, worst_absolute(found, expected));
        continue;
      }
      for (std::size_t j = 0; j < found.size(); ++j) {
        worst_variance = std::max(worst_variance, std::abs(found[j] / expected[j] - 1));
      }
    }
  }
  report_.check(step + ": running means", worst_mean, after == 1 ? limits_.mean1 : limits_.mean3);
  report_.check(step + ": running variances", worst_variance, limits_.variance);
}

void Trace::compare_eval() {
  const std::vector<std::int32_t> labels = golden_.labels("eval.y");
  Sampler sampler(step_.model(), 4);  // in several chunks, the last one not full
  const std::vector<float> images = sampler.generate(golden_.input("eval.z"), labels);
  const std::vector<double> found(images.begin(), images.end());
  report_.check("images after step 3, inference",
                worst_absolute(found, golden_.expected("eval.out")), limits_.eval);
}

const std::map<std::string, ConvLibrary>& conv_libraries() {
  static const std::map<std::string, ConvLibrary> kByName{{"auto", ConvLibrary::Auto},
                                                          {"handwritten", ConvLibrary::Handwritten},
                                                          {"cudnn", ConvLibrary::Cudnn}};
  return kByName;
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  std::string half = "fp16";
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (!name.starts_with("--")) {
      arguments.folder = name;
      continue;
    }
    if (i + 1 == argc) fail(ErrorKind::Usage, "{} needs a value", name);
    const std::string value = argv[++i];
    if (name == "--case")
      arguments.only = value;
    else if (name == "--device")
      arguments.device = value;
    else if (name == "--precision" && (value == "fp32" || value == "mixed"))
      arguments.mixed = value == "mixed";
    else if (name == "--half" && (value == "fp16" || value == "bf16"))
      half = value;
    else if (name == "--conv" && conv_libraries().contains(value))
      arguments.conv = conv_libraries().at(value);
    else
      fail(ErrorKind::Usage, "unknown option {} {}", name, value);
  }
  if (arguments.folder.empty())
    fail(ErrorKind::Usage,
         "usage: golden_trace DIR [--case A] [--device cpu|host|packed|onednn|cuda|emulated] "
         "[--precision fp32|mixed] [--half fp16|bf16] [--conv auto|handwritten|cudnn]");
  if (arguments.mixed) arguments.compute = half == "fp16" ? DType::F16 : DType::BF16;
  return arguments;
}

// ctest's "skipped": the folder is not part of the project.
int missing_folder(const std::string& folder) {
  std::fprintf(stderr, "golden_trace: the folder %s is missing\n", folder.c_str());
  const char* ci = std::getenv("CI");
  return ci != nullptr && std::string(ci) == "true" ? 1 : 77;
}

int run(const Arguments& arguments) {
  if (!std::filesystem::is_directory(arguments.folder)) return missing_folder(arguments.folder);
  const std::vector<std::string> cases = GoldenCase::find(arguments.folder);
  if (cases.empty()) fail(ErrorKind::Data, "{} holds no *.inputs.safetensors", arguments.folder);
  const auto backend = open_backend({.device = arguments.device, .conv = arguments.conv}).backend;
  Report report;
  int runs = 0;
  for (const std::string& name : cases) {
    if (arguments.only && *arguments.only != name) continue;
    std::printf("case %s, %s, on %s\n", name.c_str(),
                std::string(name_of(arguments.compute)).c_str(), backend->description().c_str());
    const GoldenCase golden(arguments.folder, name);
    Trace(golden, *backend, arguments, report).run();
    ++runs;
  }
  if (runs == 0)
    fail(ErrorKind::Usage, "there is no case {} in {}", *arguments.only, arguments.folder);
  std::printf("%d comparisons over their limit\n", report.failures());
  return report.failures() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace acgan::test

int main(int argc, char** argv) {
  try {
    return acgan::test::run(acgan::test::parse(argc, argv));
  } catch (const acgan::Error& error) {
    std::fprintf(stderr, "golden_trace: %s\n", error.what());
    return static_cast<int>(error.kind());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "golden_trace: internal error: %s\n", error.what());
    return 1;
  }
}
