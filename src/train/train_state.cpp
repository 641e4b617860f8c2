#include "train/train_state.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "train/run_identity.h"

namespace acgan {
namespace {

constexpr const char* kFormat = "acgan-train checkpoint 1";

std::vector<std::int64_t> extents_of(const Shape& shape) {
  std::vector<std::int64_t> extents;
  extents.reserve(static_cast<std::size_t>(shape.rank()));
  for (int axis = 0; axis < shape.rank(); ++axis) extents.push_back(shape[axis]);
  return extents;
}

// ---- named values of an optimiser's state, the loader and the progress, as F64 or I64 scalars

template <typename T>
constexpr Checkpoint::Type kScalarType =
    std::is_floating_point_v<T> ? Checkpoint::Type::F64 : Checkpoint::Type::I64;

template <typename T>
using Stored = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;

struct ScalarWriter {
  Checkpoint& checkpoint;
  template <typename T>
  void operator()(const std::string& name, const T& value) const {
    const auto stored = static_cast<Stored<T>>(value);
    checkpoint.set(name, kScalarType<T>, {1}, &stored);
  }
};

template <typename T>
[[noreturn]] void reject_counter(const Checkpoint& checkpoint, const std::string& name, T value) {
  fail(ErrorKind::Output, "{}: \"{}\" is {}, which no run can have; use another checkpoint",
       checkpoint.source(), name, value);
}

struct ScalarReader {
  const Checkpoint& checkpoint;
  template <typename T>
  void operator()(const std::string& name, T& value) const {
    const Checkpoint::Array& array = checkpoint.at(name);
    if (array.type != kScalarType<T> || array.bytes.size() != sizeof(Stored<T>)) {
      fail(ErrorKind::Output, "{}: \"{}\" should be one {} value", checkpoint.source(), name,
           std::is_floating_point_v<T> ? "F64" : "I64");
    }
    Stored<T> stored;
    std::memcpy(&stored, array.bytes.data(), sizeof stored);
    if constexpr (std::is_floating_point_v<T>) {
      const bool fits = std::abs(stored) <= std::numeric_limits<T>::max();  // not so for NaN
      if (!fits) reject_counter(checkpoint, name, stored);
    } else if (static_cast<Stored<T>>(static_cast<T>(stored)) != stored) {
      reject_counter(checkpoint, name, stored);
    }
    value = static_cast<T>(stored);
  }
};

// One list of names for writing and reading.
template <typename State, typename Visitor>
void visit_optimizer_state(const std::string& prefix, State& state, const Visitor& visit) {
  visit(prefix + "beta1_power", state.beta1_power);
  visit(prefix + "beta2_power", state.beta2_power);
  visit(prefix + "applied", state.applied);
  visit(prefix + "skipped", state.skipped);
  visit(prefix + "loss_scale", state.loss_scale);
  visit(prefix + "clean_steps", state.clean_steps);
  visit(prefix + "consecutive_skips", state.consecutive_skips);
}

template <typename Position, typename ProgressType, typename Random, typename Visitor>
void visit_run_state(Position& position, ProgressType& progress, Random& random,
                     const Visitor& visit) {
  visit("data.epoch", position.epoch);
  visit("data.index", position.index);
  visit("progress.step", progress.step);
  visit("progress.elapsed_seconds", progress.elapsed_seconds);
  visit("random.seed", random.seed);
  visit("random.step", random.step);
}

// ---- arrays

void save_array(Checkpoint& checkpoint, Backend& backend, const std::string& name,
                const Tensor& tensor) {
  std::vector<float> host(static_cast<std::size_t>(tensor.count()));
  backend.download(host.data(), tensor);
  checkpoint.set(name, Checkpoint::Type::F32, extents_of(tensor.shape), host.data());
}

const Checkpoint::Array& checked_array(const Checkpoint& checkpoint, const std::string& name,
                                       const Shape& shape) {
  const Checkpoint::Array& array = checkpoint.at(name);
  if (array.type != Checkpoint::Type::F32 || array.shape != extents_of(shape)) {
    fail(ErrorKind::Output, "{}: \"{}\" should be F32 {}, found shape [{}]", checkpoint.source(),
         name, shape.text(), fmt::join(array.shape, ","));
  }
  return array;
}

// Calls visit(name, tensor) for all that a network remembers.
template <typename Visitor>
void visit_network(const Network& network, const Visitor& visit) {
  const ParameterStore& store = network.parameters();
  for (int i = 0; i < store.parameters(); ++i) visit(store.parameter_name(i), store.master(i));
  for (int i = 0; i < store.statistics(); ++i) visit(store.statistic_name(i), store.statistic(i));
}

// Before the names of the generator's arrays where they are averages.
const std::string kAveragePrefix = "ema.";

bool has_average(const Checkpoint& checkpoint) {
  return checkpoint.has(kAveragePrefix + "generator.dense1.weight");
}

// A run that begins to keep an average starts it from the generator that it goes on with.
template <typename Load>
void load_average(const Checkpoint& checkpoint, TrainStep& step, const Load& load) {
  if (!has_average(checkpoint)) return step.average()->start_from(step.model().generator);
  visit_network(step.average()->network(), load);
  step.refresh_average();
}

template <typename Visitor>
void visit_moments(const Adam& optimizer, const Visitor& visit) {
  for (const ParameterStore* store : optimizer.stores()) {
    const AdamMoments moments = optimizer.moments(*store);
    for (int i = 0; i < store->parameters(); ++i) {
      const std::string suffix = optimizer.name() + "." + store->parameter_name(i);
      visit("optimizer.m." + suffix, store->view_of(moments.m, i));
      visit("optimizer.v." + suffix, store->view_of(moments.v, i));
    }
  }
}

void check_format(const Checkpoint& checkpoint) {
  if (!checkpoint.has_text("format") || checkpoint.text("format") != kFormat) {
    fail(ErrorKind::Output,
         "{} is not a checkpoint of this program: its metadata should say \"{}\"",
         checkpoint.source(), kFormat);
  }
}

// Ranges in which no later sum or product overflows, and which no run leaves: at a thousand steps a
// second the most steps take a century.
constexpr std::int64_t kMostSteps = std::int64_t{1} << 42;
constexpr std::int64_t kMostImages = std::int64_t{1} << 60;
constexpr double kMostSeconds = 1e12;

template <typename T>
void check_range(const Checkpoint& checkpoint, const std::string& name, T value, T low, T high) {
  if (value >= low && value <= high) return;
  reject_counter(checkpoint, name, value);
}

void check_optimizer_state(const Checkpoint& checkpoint, const std::string& prefix,
                           const OptimizerState& state, std::int64_t updates) {
  const auto check = [&](const char* name, auto value, auto low, auto high) {
    check_range(checkpoint, prefix + name, value, low, high);
  };
  check("beta1_power", state.beta1_power, 0.0, 1.0);
  check("beta2_power", state.beta2_power, 0.0, 1.0);
  check("applied", state.applied, std::int64_t{0}, updates);
  check("skipped", state.skipped, std::int64_t{0}, updates - state.applied);
  check("clean_steps", state.clean_steps, 0, std::numeric_limits<std::int32_t>::max());
  check("consecutive_skips", state.consecutive_skips, 0, std::numeric_limits<std::int32_t>::max());
  check("loss_scale", state.loss_scale, std::numeric_limits<float>::denorm_min(),
        std::numeric_limits<float>::max());
}

void check_run_state(const Checkpoint& checkpoint, const DataLoader& loader,
                     const DataLoader::Position& position, const Progress& progress,
                     const RandomState& random) {
  const auto most = static_cast<std::uint64_t>(kMostSteps);
  const auto most_epochs = static_cast<std::uint64_t>(kMostImages / loader.count());
  check_range(checkpoint, "progress.step", progress.step, std::int64_t{0}, kMostSteps);
  check_range(checkpoint, "progress.elapsed_seconds", progress.elapsed_seconds, 0.0, kMostSeconds);
  check_range(checkpoint, "random.step", random.step, std::uint64_t{0}, most);
  check_range(checkpoint, "data.index", position.index, std::int64_t{0}, loader.count());
  check_range(checkpoint, "data.epoch", position.epoch, std::uint64_t{0}, most_epochs);
}

std::int64_t integer_text(const Checkpoint& checkpoint, const std::string& key, std::int64_t low,
                          std::int64_t high) {
  const std::string& text = checkpoint.text(key);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high) {
    fail(ErrorKind::Output, "{}: {} should be a whole number from {} to {}, found \"{}\"",
         checkpoint.source(), key, low, high, text);
  }
  return value;
}

struct NamedShape {
  const char* name;
  Shape shape;
};

std::vector<NamedShape> study_shapes(const AcganShape& shape) {
  const ModelConfig& w = shape.widths;
  const std::int64_t base = shape.image_size / 4;
  return {{"generator.dense1.weight", {w.dense_width, w.latent_dim + shape.classes}},
          {"generator.dense2.weight", {base * base * w.conv2_width, w.dense_width}},
          {"generator.deconv3.weight", {w.conv2_width, 4, 4, w.conv1_width}},
          {"generator.deconv4.weight", {w.conv1_width, 4, 4, shape.channels}}};
}

std::vector<NamedShape> residual_shapes(const AcganShape& shape) {
  const ModelConfig& w = shape.widths;
  const std::int64_t base = shape.image_size / 8;
  return {
      {"generator.dense1.weight", {base * base * w.generator_width, w.latent_dim + shape.classes}},
      {"generator.block1.conv1.weight", {w.generator_width, 3, 3, w.generator_width}},
      {"generator.conv5.weight", {shape.channels, 3, 3, w.generator_width}},
      {"discriminator.block2.conv1.weight", {w.discriminator_width, 3, 3, w.discriminator_width}}};
}

// The metadata's sizes are those of arrays in the file, so a model built from them is no larger
// than the file.
void check_sizes(const Checkpoint& checkpoint, const AcganShape& shape) {
  const bool is_residual = shape.widths.preset == ModelPreset::Resnet32;
  std::vector<NamedShape> expected = is_residual ? residual_shapes(shape) : study_shapes(shape);
  expected.push_back(
      {"classifier.dense1.weight", {shape.widths.classifier_width, shape.features()}});
  for (const auto& [name, array_shape] : expected) {
    const bool is_even = shape.image_size % (is_residual ? 8 : 4) == 0;
    if (!is_even || checkpoint.at(name).shape != extents_of(array_shape)) {
      fail(ErrorKind::Output, "{}: \"{}\" has the shape [{}], but its metadata says {}",
           checkpoint.source(), name, fmt::join(checkpoint.at(name).shape, ","),
           array_shape.text());
    }
  }
}

ModelConfig read_widths(const Checkpoint& checkpoint) {
  const auto width = [&](const char* key) { return integer_text(checkpoint, key, 1, 65536); };
  ModelConfig widths{.preset = preset_of(checkpoint),
                     .latent_dim = width("latent_dim"),
                     .classifier_width = width("classifier_width")};
  if (widths.preset == ModelPreset::Resnet32) {
    widths.generator_width = width("generator_width");
    widths.discriminator_width = width("discriminator_width");
  } else {
    widths.dense_width = width("dense_width");
    widths.conv1_width = width("conv1_width");
    widths.conv2_width = width("conv2_width");
  }
  return widths;
}

}  // namespace

Checkpoint save_state(const TrainStep& step, const DataLoader::Position& position,
                      const Progress& progress, const std::string& config_yaml,
                      const DataFacts& data) {
  Checkpoint checkpoint;
  checkpoint.set_text("format", kFormat);
  checkpoint.set_text("config", config_yaml);
  checkpoint.set_text("step", std::to_string(progress.step));
  for (const auto& [key, value] : identity_texts(step, data)) checkpoint.set_text(key, value);
  Backend& backend = step.backend();
  const auto save = [&](const std::string& name, const Tensor& tensor) {
    save_array(checkpoint, backend, name, tensor);
  };
  for (const Network* network : step.model().networks()) visit_network(*network, save);
  if (step.average() != nullptr) visit_network(step.average()->network(), save);
  for (const auto& optimizer : step.optimizers()) {
    visit_moments(*optimizer, save);
    const OptimizerState state = optimizer->read_state();
    visit_optimizer_state("optimizer.state." + optimizer->name() + ".", state,
                          ScalarWriter{checkpoint});
  }
  const RandomState random = step.read_random_state();
  visit_run_state(position, progress, random, ScalarWriter{checkpoint});
  return checkpoint;
}

void load_state(const Checkpoint& checkpoint, TrainStep& step, DataLoader& loader,
                Progress& progress, const DataFacts& data) {
  check_format(checkpoint);
  refuse_differences(checkpoint, step, data);
  Backend& backend = step.backend();
  const auto load = [&](const std::string& name, const Tensor& tensor) {
    backend.upload(tensor, checked_array(checkpoint, name, tensor.shape).bytes.data());
  };
  for (Network* network : step.model().networks()) {
    visit_network(*network, load);
    network->parameters().refresh_working();
  }
  if (step.average() != nullptr) load_average(checkpoint, step, load);
  DataLoader::Position position;
  RandomState random;
  visit_run_state(position, progress, random, ScalarReader{checkpoint});
  check_run_state(checkpoint, loader, position, progress, random);
  for (const auto& optimizer : step.optimizers()) {
    visit_moments(*optimizer, load);
    const std::string prefix = "optimizer.state." + optimizer->name() + ".";
    OptimizerState state;
    visit_optimizer_state(prefix, state, ScalarReader{checkpoint});
    // D may make several updates a step; each draws its own latents.
    const bool is_d = optimizer == step.optimizers().front();
    check_optimizer_state(checkpoint, prefix, state,
                          is_d ? static_cast<std::int64_t>(random.step) : progress.step);
    state.learning_rate = optimizer->rate_after(state.applied);  // as this run's config has it
    optimizer->write_state(state);
  }
  loader.seek(position);
  step.write_random_state(random);
}

Progress progress_of(const Checkpoint& checkpoint) {
  check_format(checkpoint);
  Progress progress;
  ScalarReader{checkpoint}("progress.step", progress.step);
  ScalarReader{checkpoint}("progress.elapsed_seconds", progress.elapsed_seconds);
  return progress;
}

std::uint64_t seed_of(const Checkpoint& checkpoint) {
  check_format(checkpoint);
  std::uint64_t seed = 0;
  ScalarReader{checkpoint}("random.seed", seed);
  return seed;
}

ModelFacts read_model_facts(const Checkpoint& checkpoint) {
  check_format(checkpoint);
  ModelFacts facts;
  facts.shape.image_size = integer_text(checkpoint, "image_size", 4, 4096);
  facts.shape.channels = integer_text(checkpoint, "channels", 1, 3);
  if (facts.shape.channels == 2) {
    fail(ErrorKind::Output, "{}: channels should be 1 or 3, found 2", checkpoint.source());
  }
  facts.shape.widths = read_widths(checkpoint);
  const auto names = nlohmann::json::parse(checkpoint.text("classes"), nullptr, false);
  if (!names.is_array() || names.empty()) {
    fail(ErrorKind::Output, "{}: its class list cannot be read", checkpoint.source());
  }
  for (const auto& name : names) {
    facts.class_names.push_back(name.is_string() ? name.get<std::string>() : name.dump());
  }
  facts.shape.classes = static_cast<std::int64_t>(facts.class_names.size());
  check_sizes(checkpoint, facts.shape);
  return facts;
}

const char* name_of(GeneratorWeights weights) {
  return weights == GeneratorWeights::Average ? "average" : "live";
}

GeneratorWeights weights_in(const Checkpoint& checkpoint, GeneratorWeights wanted) {
  return has_average(checkpoint) ? wanted : GeneratorWeights::Live;
}

const Checkpoint::Array& generator_array(const Checkpoint& checkpoint, const std::string& name,
                                         const Shape& shape, GeneratorWeights wanted) {
  const bool is_average = weights_in(checkpoint, wanted) == GeneratorWeights::Average;
  return checked_array(checkpoint, is_average ? kAveragePrefix + name : name, shape);
}

GeneratorWeights load_generator(const Checkpoint& checkpoint, Acgan& model,
                                GeneratorWeights wanted) {
  Backend& backend = model.generator.parameters().backend();
  visit_network(model.generator, [&](const std::string& name, const Tensor& tensor) {
    backend.upload(tensor, generator_array(checkpoint, name, tensor.shape, wanted).bytes.data());
  });
  model.generator.parameters().refresh_working();
  return weights_in(checkpoint, wanted);
}

}  // namespace acgan
