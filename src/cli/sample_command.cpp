#include "cli/sample_command.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>

#include "backend/open_backend.h"
#include "base/error.h"
#include "base/printable.h"
#include "cli/model_checkpoint.h"
#include "cli/weights_option.h"
#include "config/config_value.h"
#include "config/nearest_name.h"
#include "data/data_folder.h"
#include "train/sampler.h"
#include "train/train_setup.h"
#include "train/train_state.h"

namespace acgan {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kChunk = 64;  // images computed at a time

enum class Format { Grid, Npy, Singles };

// What to write, decided before any work is done.
struct Target {
  Format format;
  fs::path path;
};

Target target_of(const SampleCommand& command) {
  const fs::path out = command.out;
  const std::string ending = out.extension().string();
  const bool is_npy = has_extension(command.out, ".npy");
  const bool is_file = is_npy || has_extension(command.out, ".png");
  std::error_code ignored;
  if (!is_file && !ending.empty() && !fs::is_directory(out, ignored)) {
    fail(ErrorKind::Usage, "--out: expected a name ending in .png or .npy, or a folder, found {}",
         command.out);
  }
  if (command.singles && is_file) {
    fail(ErrorKind::Usage, "--out: expected a folder for --singles, found {}", command.out);
  }
  if (command.singles) return {Format::Singles, out};
  if (!is_file) return {Format::Grid, out / "samples.png"};
  return {is_npy ? Format::Npy : Format::Grid, out};
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    fail(ErrorKind::Output, "cannot make the folder {}: {}; choose another with --out",
         folder.string(), error.message());
  }
}

std::string_view comma_hint(const std::vector<std::string>& known) {
  const bool has_commas = std::any_of(known.begin(), known.end(), [](const std::string& name) {
    return name.find(',') != std::string::npos;
  });
  return has_commas ? "; --class takes a name with commas in it" : "";
}

std::vector<std::int32_t> labels_of(const std::vector<std::string>& chosen,
                                    const std::vector<std::string>& known) {
  std::vector<std::int32_t> labels(known.size());
  std::iota(labels.begin(), labels.end(), 0);
  if (chosen.empty()) return labels;
  labels.clear();
  for (const std::string& name : chosen) {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end()) {
      fail(ErrorKind::Usage,
           "--classes: unknown class '{}', did you mean '{}'? (the model has {}){}", name,
           nearest_name(name, known), comma_list(known), comma_hint(known));
    }
    labels.push_back(static_cast<std::int32_t>(found - known.begin()));
  }
  return labels;
}

// "03_ice_cream_0007.png": names in [A-Za-z0-9._-]; the label keeps classes apart that look alike.
std::string single_name(std::int32_t label, std::string name, std::int64_t row) {
  std::replace_if(
      name.begin(), name.end(),
      [](char c) {
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        return !is_letter && !(c >= '0' && c <= '9') && c != '.' && c != '_' && c != '-';
      },
      '_');
  return fmt::format("{:02}_{}_{:04}.png", label, name.substr(0, 100), row);
}

// Images of a grid, row by row: one class a column.
struct Samples {
  std::vector<std::uint8_t> pixels;
  std::vector<std::int32_t> labels;  // by column
  std::int64_t rows = 0;
  AcganShape shape;
};

void write_singles(const fs::path& folder, const Samples& samples,
                   const std::vector<std::string>& class_names) {
  const std::int64_t side = samples.shape.image_size, channels = samples.shape.channels;
  const auto image_size = static_cast<std::size_t>(side * side * channels);
  std::size_t begin = 0;
  for (std::int64_t row = 0; row < samples.rows; ++row) {
    for (const std::int32_t label : samples.labels) {
      const auto first = samples.pixels.begin() + static_cast<std::ptrdiff_t>(begin);
      const Picture picture{.height = side,
                            .width = side,
                            .channels = channels,
                            .pixels = {first, first + static_cast<std::ptrdiff_t>(image_size)}};
      const std::string& name = class_names[static_cast<std::size_t>(label)];
      write_png((folder / single_name(label, name, row)).string(), picture);
      begin += image_size;
    }
  }
}

void write_samples(const Target& target, const Samples& samples,
                   const std::vector<std::string>& class_names) {
  const std::int64_t side = samples.shape.image_size, channels = samples.shape.channels;
  const auto columns = static_cast<std::int64_t>(samples.labels.size());
  switch (target.format) {
    case Format::Grid:
      return write_png(target.path.string(),
                       make_grid(samples.pixels, samples.rows, columns, side, side, channels));
    case Format::Npy:
      return write_npy(target.path.string(), samples.pixels, samples.rows * columns, side, side,
                       channels);
    case Format::Singles:
      return write_singles(target.path, samples, class_names);
  }
}

}  // namespace

void run_sample_command(const SampleCommand& command) {
  const Target target = target_of(command);
  const Checkpoint checkpoint = load_model_checkpoint(command.checkpoint);
  const ModelFacts facts = read_model_facts(checkpoint);
  Samples samples{.pixels = {},
                  .labels = labels_of(command.classes, facts.class_names),
                  .rows = command.rows,
                  .shape = facts.shape};
  const auto columns = static_cast<std::int64_t>(samples.labels.size());

  const OpenedBackend opened = open_backend({.device = command.device, .threads = command.threads});
  Backend* const backend = opened.backend.get();
  fmt::print("device: {}\n", backend->description());
  if (!opened.why_not_cuda.empty()) {
    fmt::print("device: auto took the CPU: {}\n", opened.why_not_cuda);
  }
  Acgan model(*backend, facts.shape, DType::F32);
  const GeneratorWeights weights = load_generator(checkpoint, model, command.weights);
  Sampler sampler(model, std::min(kChunk, command.rows * columns));
  const auto z = sample_latents(command.seed, command.rows, facts.shape.widths.latent_dim);
  samples.pixels = sampler.generate_grid(z, samples.labels);

  const bool is_folder = target.format == Format::Singles;
  const fs::path folder = is_folder ? target.path : target.path.parent_path();
  if (!folder.empty()) make_folder(folder);
  write_samples(target, samples, facts.class_names);

  std::vector<std::string> names;
  for (const std::int32_t label : samples.labels) {
    names.push_back(facts.class_names[static_cast<std::size_t>(label)]);
  }
  fmt::print("model: {}\nweights: {}\nimages: {} rows of {}, seed {}\nwritten: {}\n",
             checkpoint.source(), weights_text(weights), command.rows, printable(comma_list(names)),
             command.seed, target.path.string());
}

}  // namespace acgan
