#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>

#include "run/checkpoint.h"
#include "run/run_directory.h"
#include "run/sample_grid.h"
#include "support/temporary_folder.h"
#include "train/trainer.h"

// Classes with few images, unequal counts and a single class, in whole runs with every option on.
namespace acgan {
namespace {

namespace fs = std::filesystem;

// A folder for each class with so many images of 12 x 12 pixels.
void write_classes(const fs::path& folder, const std::vector<int>& counts) {
  for (std::size_t label = 0; label < counts.size(); ++label) {
    const fs::path of_class = folder / ("class" + std::to_string(label));
    fs::create_directories(of_class);
    for (int i = 0; i < counts[label]; ++i) {
      Picture picture{.height = 12, .width = 12, .channels = 1, .pixels = {}};
      for (int p = 0; p < 144; ++p) {
        picture.pixels.push_back(static_cast<std::uint8_t>((p * (7 + i) + 50 * int(label)) % 256));
      }
      write_png((of_class / (std::to_string(i) + ".png")).string(), picture);
    }
  }
}

TrainRequest request_on(const fs::path& folder) {
  TrainRequest request;
  Config& config = request.config;
  config.name = "counts";
  config.data.kind = DataKind::Folder;
  config.data.path = (folder / "images").string();
  config.data.channels = 1;
  config.data.image_size = 12;
  config.data.cache = false;
  config.data.flip = true;
  config.model = {.latent_dim = 8,
                  .dense_width = 24,
                  .conv1_width = 8,
                  .conv2_width = 16,
                  .classifier_width = 12};
  config.optimizer.schedule = RateDecay::Linear;
  config.train.batch = 4;
  config.train.steps = 4;
  config.train.minutes = 0;
  config.train.ema = 0.9;
  config.train.d_steps = 2;
  config.train.classify_fakes_in_d = false;
  config.train.augment = {"color", "translation", "cutout"};
  config.output.dir = (folder / "runs").string();
  config.output.rows = 2;
  config.output.sample_every = 0;
  return request;
}

RunEnd train(const TrainRequest& request) {
  Log log(Verbosity::Quiet);
  const std::atomic<int> no_signal{0};
  return run_training(request, log, no_signal);
}

TEST_CASE("few images, unequal counts and a single class train, and go on") {
  const std::vector<int> counts =
      GENERATE(std::vector<int>{1, 3, 12}, std::vector<int>{9}, std::vector<int>{2, 2});
  const test::TemporaryFolder folder;
  const fs::path root = folder.path();
  write_classes(root / "images", counts);
  TrainRequest request = request_on(root);
  request.config.train.label_sampling = GENERATE(LabelSampling::Data, LabelSampling::Even);
  request.config.train.objective = GENERATE(Objective::Dgq, Objective::Joint);
  CHECK(train(request) == RunEnd::Done);
  request.config.train.steps = 6;
  request.resume = "latest";
  CHECK(train(request) == RunEnd::Done);
  const fs::path run = fs::directory_iterator(root / "runs")->path();
  const Checkpoint checkpoint =
      Checkpoint::load(RunDirectory::open(run.string()).checkpoints().front());
  CHECK(checkpoint.text("step") == "6");
  CHECK(checkpoint.has("ema.generator.deconv4.weight"));
  const auto applied = [&](const std::string& name) {
    std::int64_t value = 0;
    const auto& bytes = checkpoint.at("optimizer.state." + name + ".applied").bytes;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  };
  CHECK(applied("d") == 12);
  CHECK(applied("g") == 6);
}

}  // namespace
}  // namespace acgan
