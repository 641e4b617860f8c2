#include "cli/sample_command.h"

#include <algorithm>
#include <numeric>

#include "backend/open_backend.h"
#include "base/error.h"
#include "base/printable.h"
#include "cli/model_checkpoint.h"
#include "cli/sample_nearest.h"
#include "cli/sample_target.h"
#include "cli/weights_option.h"
#include "config/config_value.h"
#include "config/nearest_name.h"
#include "data/data_folder.h"
#include "run/run_directory.h"
#include "train/latent_walk.h"
#include "train/progress_animation.h"
#include "train/sampler.h"
#include "train/train_setup.h"
#include "train/train_state.h"

namespace acgan {

namespace {

constexpr std::int64_t kChunk = 64;                  // images computed at a time
constexpr std::int64_t kMostWalkImages = 1'000'000;  // of one grid

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

// Throws Error{Usage} where the walks are none or too many.
void check_walk(const SampleCommand& command, std::int64_t classes) {
  if (command.picture == SamplePicture::ClassWalk && classes < 2) {
    fail(ErrorKind::Usage,
         "--interpolate classes: expected at least two classes to walk between, found {}", classes);
  }
  const std::int64_t images = command.rows * command.steps * classes;
  if (images > kMostWalkImages) {
    fail(ErrorKind::Usage,
         "--interpolate: {} images are more than {} in one grid; take fewer --rows, --steps or "
         "--classes",
         images, kMostWalkImages);
  }
}

WalkGrid plan_walk(const SampleCommand& command, const AcganShape& shape,
                   const std::vector<std::int32_t>& labels) {
  const std::int64_t latent_dim = shape.widths.latent_dim;
  if (command.picture == SamplePicture::ClassWalk) {
    const auto z = sample_latents(command.seed, command.rows, latent_dim);
    return walk_classes(z, command.rows, labels, shape.classes, command.steps);
  }
  const auto z = sample_latents(command.seed, command.rows + 1, latent_dim);
  return walk_latents(z, command.rows, labels, shape.classes, command.steps);
}

bool is_walk(const SampleCommand& command) {
  return command.picture == SamplePicture::LatentWalk ||
         command.picture == SamplePicture::ClassWalk;
}

ImageGrid draw(const SampleCommand& command, const Acgan& model,
               const std::vector<std::int32_t>& labels) {
  ImageGrid grid{.rows = command.rows,
                 .columns = static_cast<std::int64_t>(labels.size()),
                 .side = model.shape.image_size,
                 .channels = model.shape.channels,
                 .pixels = {}};
  if (is_walk(command)) {
    const WalkGrid walk = plan_walk(command, model.shape, labels);
    grid.rows = walk.rows;
    grid.columns = walk.columns;
    Sampler sampler(model, std::min(kChunk, walk.rows * walk.columns));
    grid.pixels = pixels_of(sampler.generate_blends(walk.z, walk.class_weights));
    return grid;
  }
  Sampler sampler(model, std::min(kChunk, grid.rows * grid.columns));
  const auto z = sample_latents(command.seed, command.rows, model.shape.widths.latent_dim);
  grid.pixels = sampler.generate_grid(z, labels);
  return grid;
}

// An animation of a run's grids: no generator is needed.
void animate(const SampleCommand& command) {
  if (!has_extension(command.out, ".webp")) {
    fail(ErrorKind::Usage, "--out: expected a name ending in .webp for --animate, found {}",
         command.out);
  }
  const RunDirectory run = RunDirectory::open(command.run);
  make_out_folder(std::filesystem::path(command.out).parent_path());
  const AnimationFacts facts = write_progress_animation(run, command.out);
  if (!facts.left_out.empty()) {
    fmt::print(stderr, "acgan-train: warning: a grid was left out: {}\n",
               printable(facts.left_out));
  }
  fmt::print("frames: {} of {} grids\nwritten: {}\n", facts.frames, facts.grids, command.out);
}

std::string names_text(const std::vector<std::int32_t>& labels,
                       const std::vector<std::string>& class_names) {
  std::vector<std::string> names;
  for (const std::int32_t label : labels) {
    names.push_back(class_names[static_cast<std::size_t>(label)]);
  }
  return printable(comma_list(names));
}

}  // namespace

void run_sample_command(const SampleCommand& command) {
  if (command.picture == SamplePicture::Animation) return animate(command);
  const SampleTarget target(command);
  const Checkpoint checkpoint = load_model_checkpoint(command.checkpoint);
  const ModelFacts facts = read_model_facts(checkpoint);
  const std::vector<std::int32_t> labels = labels_of(command.classes, facts.class_names);
  if (is_walk(command)) check_walk(command, static_cast<std::int64_t>(labels.size()));

  const OpenedBackend opened = open_backend({.device = command.device, .threads = command.threads});
  Backend* const backend = opened.backend.get();
  fmt::print("device: {}\n", backend->description());
  if (!opened.why_not_cuda.empty()) {
    fmt::print("device: auto took the CPU: {}\n", opened.why_not_cuda);
  }
  Acgan model(*backend, facts.shape, DType::F32);
  const GeneratorWeights weights = load_generator(checkpoint, model, command.weights);
  ImageGrid grid = draw(command, model, labels);
  if (command.picture == SamplePicture::Nearest) {
    NearestGrid pairs = pair_with_nearest(grid, checkpoint, facts, command);
    fmt::print("{}", pairs.summary);
    grid = std::move(pairs.grid);
  }
  target.write(grid, labels, facts.class_names);
  fmt::print("model: {}\nweights: {}\nimages: {} rows of {}, seed {}\nwritten: {}\n",
             checkpoint.source(), weights_text(weights), grid.rows,
             names_text(labels, facts.class_names), command.seed, target.path());
}

}  // namespace acgan
