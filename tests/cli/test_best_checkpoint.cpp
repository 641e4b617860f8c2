#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>

#include "base/format.h"
#include "cli/judged_run.h"
#include "run/checkpoint.h"
#include "train/best_evaluation.h"

namespace acgan::test {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// A judged run that evaluates and saves after every step.
class EagerRun : public JudgedRun {
 public:
  ProgramResult train(std::vector<std::string> arguments) const {
    const std::vector<std::string> eager = {"-c", "tiny.yaml", "--save-every", "1e-6"};
    arguments.insert(arguments.begin(), eager.begin(), eager.end());
    return run(arguments);
  }
  ProgramResult train_judged(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--evaluate-every", "1e-6"});
    return train(arguments);
  }
  std::string checkpoint(const std::string& name) const {
    return run_path() + "/checkpoints/" + name + ".safetensors";
  }
  std::string best() const { return path(checkpoint("best")); }
  // Makes a checkpoint of the run the best by frechet, as if the value had been measured.
  void make_best(const std::string& name, double value, const std::string& ruler) const {
    Checkpoint checkpoint_of_step = Checkpoint::load(path(checkpoint(name)));
    mark_best({.by = "frechet", .value = value, .step = 0, .ruler = ruler}, checkpoint_of_step);
    checkpoint_of_step.save(best());
  }
  json summary() const { return json::parse(read_text(path(run_path() + "/summary.json"))); }
};

// Of equal ones the first.
json best_line(const std::vector<json>& lines) {
  return *std::min_element(lines.begin(), lines.end(), [](const json& a, const json& b) {
    return a["frechet"].get<double>() < b["frechet"].get<double>();
  });
}

}  // namespace

TEST_CASE("the best state by a figure is kept, named and of use to every command") {
  const EagerRun tiny;
  const ProgramResult trained =
      tiny.train_judged({"--steps", "4", "--keep", "1", "--set", "train.ema=0.5"});
  CAPTURE(trained.err);
  REQUIRE(trained.exit_code == 0);
  const std::string metrics = tiny.run_path() + "/metrics.jsonl";
  REQUIRE(tiny.metrics(metrics).size() == 4);
  const json best = best_line(tiny.metrics(metrics));
  CHECK(best["weights"] == "average");

  const Checkpoint kept = Checkpoint::load(tiny.best());
  const auto marked = best_in(kept.texts());
  REQUIRE(marked);
  CHECK(marked->by == "frechet");
  CHECK(marked->value == best["frechet"].get<double>());
  CHECK(marked->step == best["step"].get<std::int64_t>());
  CHECK_THAT(marked->ruler, Catch::Contains(best["feature_net"]["id"].get<std::string>()));
  // keep: 1 counts the others alone.
  const fs::path folder = tiny.path(tiny.run_path() + "/checkpoints");
  CHECK(std::distance(fs::directory_iterator(folder), fs::directory_iterator()) == 2);
  CHECK(fs::exists(tiny.path(tiny.checkpoint("step_000004"))));

  CHECK_THAT(trained.out, Catch::Contains("best frechet so far: ") &&
                              Catch::Contains(fmt::format("at step {}, ", marked->step)));
  const json summary = tiny.summary();
  CHECK(summary["best_by"] == "frechet");
  CHECK(summary["best_value"] == best["frechet"]);
  CHECK(summary["best_step"] == best["step"]);
  CHECK(summary["best_checkpoint"] == "checkpoints/best.safetensors");
  CHECK_THAT(read_text(tiny.path(tiny.run_path() + "/report.html")),
             Catch::Contains("kept as checkpoints/best.safetensors"));

  const std::string file = tiny.checkpoint("best");
  REQUIRE(tiny.evaluate({"--checkpoint", file, "--threads", "1"}).exit_code == 0);
  const json again = tiny.metrics(metrics).back();
  CHECK(again["step"] == best["step"]);
  for (const char* name : {"frechet", "kid", "recall"}) {  // sums depend on where memory lies
    CHECK(again[name].get<double>() == Approx(best[name].get<double>()).epsilon(1e-9));
  }
  CHECK(tiny.run({"sample", "--checkpoint", file, "--out", "a.png"}).exit_code == 0);
  CHECK(tiny.run({"export", "--checkpoint", file, "--onnx", "a.onnx"}).exit_code == 0);
}

TEST_CASE("a run that goes on knows the best so far and keeps it where nothing is better") {
  const EagerRun tiny;
  REQUIRE(tiny.train_judged({"--steps", "2"}).exit_code == 0);
  const std::string ruler = best_in(Checkpoint::load(tiny.best()).texts())->ruler;
  tiny.make_best("step_000001", 1e-9, ruler);
  const std::string before = read_text(tiny.best());
  const ProgramResult more = tiny.train_judged({"--resume", "latest", "--steps", "4"});
  REQUIRE(more.exit_code == 0);
  CHECK_THAT(more.out, Catch::Contains("at step 2, ") &&  // not the best one, which is older
                           Catch::Contains("best so far: frechet 1e-09 at step 1"));
  CHECK(read_text(tiny.best()) == before);
  CHECK(tiny.summary()["best_step"] == 1);

  // Of another ruler or figure it is replaced, and the log says so.
  tiny.make_best("step_000004", 1e-9, "another feature net");
  const ProgramResult other = tiny.train_judged({"--resume", "latest", "--steps", "5"});
  REQUIRE(other.exit_code == 0);
  CHECK_THAT(other.err,
             Catch::Contains("another feature net") && Catch::Contains("cannot be compared"));
  CHECK(tiny.summary()["best_step"] == 5);
  // A damaged one too.
  write_text(tiny.best(), "no checkpoint");
  const ProgramResult mended =
      tiny.train_judged({"--resume", "latest", "--steps", "6", "--set", "output.best_by=recall"});
  REQUIRE(mended.exit_code == 0);
  CHECK_THAT(mended.err, Catch::Contains("the next evaluation takes its place"));
  CHECK(tiny.summary()["best_step"] == 6);
  CHECK(tiny.summary()["best_by"] == "recall");
}

TEST_CASE("a run goes on from its best checkpoint, which may be the newest") {
  const EagerRun tiny;
  REQUIRE(tiny.train({"--steps", "4", "--keep", "9"}).exit_code == 0);
  tiny.make_best("step_000002", 5, "r");
  const ProgramResult back = tiny.train({"--resume", tiny.best(), "--steps", "3"});
  REQUIRE(back.exit_code == 0);
  CHECK_THAT(back.out, Catch::Contains("best.safetensors at step 2"));
  CHECK_THAT(back.err, Catch::Contains("the steps after 2 are run again"));
  CHECK(fs::exists(tiny.best()));
  CHECK_FALSE(fs::exists(tiny.path(tiny.checkpoint("step_000004"))));

  tiny.make_best("step_000003", 5, "r");
  fs::remove(tiny.path(tiny.checkpoint("step_000003")));
  const ProgramResult newest = tiny.train({"--resume", "latest", "--steps", "4"});
  REQUIRE(newest.exit_code == 0);
  CHECK_THAT(newest.out, Catch::Contains("best.safetensors at step 3"));
  CHECK(newest.err.empty());
}

TEST_CASE("a best of steps that are run again does not outlive them unseen") {
  const EagerRun tiny;
  REQUIRE(tiny.train({"--steps", "4", "--keep", "9"}).exit_code == 0);
  const std::string second = tiny.path(tiny.checkpoint("step_000002"));
  const auto counts_no_more =
      Catch::Contains("best.safetensors is of step 4, which is run again: it counts no more");
  tiny.make_best("step_000004", 1e-9, "r");
  const std::string metrics = tiny.path(tiny.run_path() + "/metrics.jsonl");
  write_text(metrics, "{\"step\": 2}\n{\"step\": 4}\n");
  // Without evaluations it goes with the next checkpoint, and its figures at once.
  const ProgramResult unjudged = tiny.train({"--resume", second, "--steps", "3", "--keep", "9"});
  REQUIRE(unjudged.exit_code == 0);
  CHECK_THAT(unjudged.err, counts_no_more);
  CHECK_FALSE(fs::exists(tiny.best()));
  CHECK_FALSE(tiny.summary().contains("best_by"));
  CHECK(read_text(metrics) == "{\"step\": 2}\n");

  // With them the next one is the best, however bad.
  REQUIRE(tiny.train({"--resume", "latest", "--steps", "4", "--keep", "9"}).exit_code == 0);
  tiny.make_best("step_000004", 1e-9, "r");
  const ProgramResult judged = tiny.train_judged({"--resume", second, "--steps", "3"});
  REQUIRE(judged.exit_code == 0);
  CHECK_THAT(judged.err, counts_no_more);
  CHECK(best_in(Checkpoint::load(tiny.best()).texts())->value > 1e-9);
  CHECK(tiny.summary()["best_step"] == 3);
}

}  // namespace acgan::test
