#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "backend/open_backend.h"
#include "quality/quality_report.h"
#include "run/append_line.h"
#include "support/temporary_folder.h"

namespace acgan::test {
namespace {

QualityFigures figures_with_labels() {
  QualityFigures figures;
  figures.samples = 20;
  figures.references = 12;
  figures.class_accuracy = 0.75;
  figures.accuracy_by_class = {0.5, 1.0};
  figures.frechet_distance = 12.5;
  figures.kernel_distance = {.mean = -0.25, .spread = 0.5, .subsets = 50, .subset_size = 6};
  figures.precision = 0.125;
  figures.recall = 0.625;
  figures.diversity = 0.9;
  figures.diversity_by_class = {0.9, std::nullopt};
  return figures;
}

QualityMeter make_meter(Backend& backend) {
  DataConfig config;
  config.image_size = 8;
  config.doodles_per_class = 10;
  config.classes = {"fish", "house"};
  return QualityMeter(backend, load_real_data(config, 1), {.samples = 20, .cache_folder = ""});
}

TEST_CASE("a record of figures is one line of strict JSON with all that is needed to read them") {
  const auto backend = open_backend("auto", 0);
  const QualityMeter meter = make_meter(*backend);
  const QualityRecord record{.source = "a\n\xFF.safetensors",
                             .step = 40,
                             .elapsed_seconds = 1.5,
                             .seed = 18446744073709551615u,
                             .weights = "average",
                             .generator_saw_held_out = false,
                             .figures = figures_with_labels()};
  const std::string line = quality_json(record, meter);
  CHECK(line.find('\n') == std::string::npos);
  const auto object = nlohmann::json::parse(line);
  CHECK(object["source"] == "a\n\xEF\xBF\xBD.safetensors");
  CHECK(object["step"] == 40);
  CHECK(object["elapsed_s"] == 1.5);
  CHECK(object["seed"] == 18446744073709551615u);
  CHECK(object["weights"] == "average");
  CHECK(object["samples"] == 20);
  CHECK(object["references"] == 12);
  CHECK(object["class_accuracy"] == 0.75);
  CHECK(object["frechet"] == 12.5);
  CHECK(object["kid"] == -0.25);
  CHECK(object["kid_spread"] == 0.5);
  CHECK(object["kid_subsets"] == 50);
  CHECK(object["kid_subset_size"] == 6);
  CHECK(object["precision"] == 0.125);
  CHECK(object["recall"] == 0.625);
  CHECK(object["diversity"] == 0.9);
  CHECK(object["classes"][0] ==
        nlohmann::json{{"name", "fish"}, {"accuracy", 0.5}, {"diversity", 0.9}});
  CHECK(object["classes"][1]["diversity"].is_null());
  CHECK(object["floor"]["samples"] == 20);
  CHECK(object["floor"]["frechet"].is_number());
  CHECK(object["feature_net"]["id"] == meter.net().id);
  CHECK(object["feature_net"]["held_out_accuracy"] == meter.net_accuracy().value());
  CHECK(object["data"]["fingerprint"] == meter.real().fingerprint);
  CHECK(object["data"]["generator_saw_held_out"] == false);
  CHECK(step_of_quality(line) == 40);
  CHECK_FALSE(step_of_quality(line.substr(0, line.size() - 2)).has_value());
  CHECK_FALSE(step_of_quality("{}").has_value());

  const std::string table = quality_table(record, meter);
  CHECK_THAT(table, Catch::Contains("12.5000") && Catch::Contains("50 x 6 images") &&
                        Catch::Contains("house") && Catch::Contains(meter.net().id) &&
                        Catch::Contains("never trained on"));
  CHECK_THAT(quality_line(record.figures, meter.floor()), Catch::Contains("class accuracy 0.750"));
}

TEST_CASE("what is not known is null in a record and a dash in the table") {
  const auto backend = open_backend("auto", 0);
  const QualityMeter meter = make_meter(*backend);
  QualityRecord record;
  record.source = "pictures.npy";
  record.figures.samples = 20;
  const auto object = nlohmann::json::parse(quality_json(record, meter));
  for (const char* name : {"step", "elapsed_s", "seed", "weights", "class_accuracy", "diversity"}) {
    CAPTURE(name);
    CHECK(object[name].is_null());
  }
  CHECK(object["classes"].empty());
  CHECK(object["data"]["generator_saw_held_out"].is_null());
  CHECK_THAT(quality_table(record, meter),
             Catch::Contains("labels are not known") && Catch::Contains("is not known"));
}

TEST_CASE("a line is added to what stands in a file") {
  const TemporaryFolder folder;
  const std::string path = folder / "metrics.jsonl";
  check_can_append(path);
  CHECK(folder.count() == 0);  // a check makes nothing
  append_line(path, "{\"a\":1}");
  append_line(path, "{\"b\":2}");
  CHECK(read_text(path) == "{\"a\":1}\n{\"b\":2}\n");
  write_text(path, "somebody's notes");
  append_line(path, "{}");
  CHECK(read_text(path) == "somebody's notes\n{}\n");
  CHECK_THROWS_WITH(check_can_append(folder.path()), Catch::Contains("Is a directory"));
  CHECK_THROWS_WITH(check_can_append(folder / "missing/file"), Catch::Contains("No such file"));
  CHECK_THROWS_WITH(append_line(folder / "missing/file", "x"), Catch::Contains("cannot write"));
}

}  // namespace
}  // namespace acgan::test
