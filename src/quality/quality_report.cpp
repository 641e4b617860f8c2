#include "quality/quality_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "base/printable.h"

namespace acgan {
namespace {

using Json = nlohmann::ordered_json;  // members stay in the order they were added in

template <typename Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

void add_figures(const QualityFigures& figures, Json& object) {
  object["samples"] = figures.samples;
  object["references"] = figures.references;
  object["class_accuracy"] = or_null(figures.class_accuracy);
  object["frechet"] = figures.frechet_distance;
  object["kid"] = figures.kernel_distance.mean;
  object["kid_spread"] = figures.kernel_distance.spread;
  object["kid_subsets"] = figures.kernel_distance.subsets;
  object["kid_subset_size"] = figures.kernel_distance.subset_size;
  object["precision"] = figures.precision;
  object["recall"] = figures.recall;
  object["diversity"] = or_null(figures.diversity);
}

Json classes_of(const QualityFigures& figures, const std::vector<std::string>& names) {
  Json classes = Json::array();
  for (std::size_t i = 0; i < figures.accuracy_by_class.size(); ++i) {
    classes.push_back({{"name", names[i]},
                       {"accuracy", or_null(figures.accuracy_by_class[i])},
                       {"diversity", or_null(figures.diversity_by_class[i])}});
  }
  return classes;
}

std::string number(const std::optional<double>& value, int digits = 4) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "-";
}

std::string row(std::string_view name, const std::string& judged, const std::string& floor) {
  return fmt::format("{:<28} {:>12} {:>12}\n", name, judged, floor);
}

std::string figures_table(const QualityFigures& figures, const QualityFigures& floor) {
  const KernelDistance& kernel = figures.kernel_distance;
  std::string text = row("", "judged", "real images");
  text += row("images", fmt::format("{}", figures.samples), fmt::format("{}", floor.samples));
  text += row("class accuracy", number(figures.class_accuracy), number(floor.class_accuracy));
  text += row("frechet distance", number(figures.frechet_distance), number(floor.frechet_distance));
  text += row("kernel distance", number(kernel.mean, 6), number(floor.kernel_distance.mean, 6));
  text += row(fmt::format("  spread, {} x {} images", kernel.subsets, kernel.subset_size),
              number(kernel.spread, 6), number(floor.kernel_distance.spread, 6));
  text += row("precision", number(figures.precision), number(floor.precision));
  text += row("recall", number(figures.recall), number(floor.recall));
  return text + row("diversity in a class", number(figures.diversity), number(floor.diversity));
}

std::string classes_table(const QualityFigures& figures, const QualityFigures& floor,
                          const std::vector<std::string>& names) {
  if (figures.accuracy_by_class.empty()) {
    return "labels are not known: no class accuracy and no diversity\n";
  }
  std::size_t width = std::string_view("class").size();
  for (const std::string& name : names) width = std::max(width, name.size());
  std::string text = fmt::format("{:<{}} {:>9} {:>9} {:>9} {:>9}\n", "class", width, "accuracy",
                                 "(real)", "diversity", "(real)");
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += fmt::format("{:<{}} {:>9} {:>9} {:>9} {:>9}\n", names[i], width,
                        number(figures.accuracy_by_class[i]), number(floor.accuracy_by_class[i]),
                        number(figures.diversity_by_class[i]), number(floor.diversity_by_class[i]));
  }
  return text;
}

std::string held_out_text(const QualityRecord& record, const QualityMeter& meter) {
  const std::string& source = meter.real().held_out_source;
  if (record.generator_saw_held_out.has_value()) return source;
  return source.substr(0, source.find(',')) + "; whether what is judged has seen them is not known";
}

}  // namespace

std::string quality_json(const QualityRecord& record, const QualityMeter& meter) {
  const RealData& real = meter.real();
  Json object;
  object["source"] = record.source;
  object["step"] = or_null(record.step);
  object["elapsed_s"] = or_null(record.elapsed_seconds);
  object["seed"] = or_null(record.seed);
  object["weights"] = or_null(record.weights);
  add_figures(record.figures, object);
  object["classes"] = classes_of(record.figures, real.train.class_names);
  add_figures(meter.floor(), object["floor"]);
  const FeatureNetFacts& net = meter.net();
  object["feature_net"] = {{"version", or_null(net.version)},
                           {"id", net.id},
                           {"seed", or_null(net.seed)},
                           {"width", net.width},
                           {"held_out_accuracy", or_null(meter.net_accuracy())},
                           {"file", or_null(net.file)},
                           {"scale", or_null(net.scale)}};
  object["data"] = {{"fingerprint", real.fingerprint},
                    {"description", real.train.description},
                    {"held_out", held_out_text(record, meter)},
                    {"generator_saw_held_out", or_null(record.generator_saw_held_out)}};
  // Names from file systems need not be UTF-8.
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<std::int64_t> step_of_quality(std::string_view line) {
  const Json object = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return std::nullopt;
  const auto step = object.find("step");
  if (step == object.end() || !step->is_number_integer()) return std::nullopt;
  return step->get<std::int64_t>();
}

std::string feature_net_text(const QualityMeter& meter) {
  const FeatureNetFacts& net = meter.net();
  if (net.file) {
    return fmt::format("feature net: {}, {} features, pixels scaled to {}, id {}",
                       printable(*net.file), net.width, *net.scale, net.id);
  }
  const FeatureNetOrigin& origin = net.origin;
  return fmt::format(
      "feature net: {}, {:.1f} % of the held-out images recognised, version {}, id {}",
      origin.from_cache ? "from " + origin.file
                        : fmt::format("trained on {} real images in {:.1f} s",
                                      meter.real().train.count(), origin.seconds),
      100 * meter.net_accuracy().value_or(0), net.version.value_or(0), net.id);
}

std::string quality_table(const QualityRecord& record, const QualityMeter& meter) {
  return fmt::format("held out: {} images, {}\n{}\n\n{}\n{}", record.figures.references,
                     held_out_text(record, meter), feature_net_text(meter),
                     figures_table(record.figures, meter.floor()),
                     classes_table(record.figures, meter.floor(), meter.real().train.class_names));
}

std::string quality_line(const QualityFigures& figures, const QualityFigures& floor) {
  return fmt::format(
      "class accuracy {} ({}), frechet {:.2f} ({:.2f}), kid {:.4f} ({:.4f}), precision {:.3f} "
      "({:.3f}), recall {:.3f} ({:.3f}), diversity {} ({}); {} images, real ones in brackets",
      number(figures.class_accuracy, 3), number(floor.class_accuracy, 3), figures.frechet_distance,
      floor.frechet_distance, figures.kernel_distance.mean, floor.kernel_distance.mean,
      figures.precision, floor.precision, figures.recall, floor.recall,
      number(figures.diversity, 3), number(floor.diversity, 3), figures.samples);
}

}  // namespace acgan
