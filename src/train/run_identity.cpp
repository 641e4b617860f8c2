#include "train/run_identity.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "backend/finish_step.h"
#include "base/error.h"
#include "config/config_keys.h"

namespace acgan {
namespace {

constexpr const char* kPresetText = "preset";

std::string preset_name(ModelPreset preset) {
  Config config;
  config.model.preset = preset;
  return config_key("model.preset").get(config);
}

std::map<std::string, std::string> shape_texts(const AcganShape& shape) {
  const ModelConfig& w = shape.widths;
  std::map<std::string, std::string> texts{
      {kPresetText, preset_name(w.preset)},
      {"image_size", std::to_string(shape.image_size)},
      {"channels", std::to_string(shape.channels)},
      {"latent_dim", std::to_string(w.latent_dim)},
      {"classifier_width", std::to_string(w.classifier_width)}};
  if (w.preset == ModelPreset::Resnet32) {
    texts["generator_width"] = std::to_string(w.generator_width);
    texts["discriminator_width"] = std::to_string(w.discriminator_width);
  } else {
    texts["dense_width"] = std::to_string(w.dense_width);
    texts["conv1_width"] = std::to_string(w.conv1_width);
    texts["conv2_width"] = std::to_string(w.conv2_width);
  }
  return texts;
}

using Json = nlohmann::json;

// Which throws at a folder's name in another encoding than UTF-8 unless told otherwise.
std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// D's learning rate moves with its own updates: where there is a schedule, their number a step must
// stay.
constexpr const char* kDStepsText = "d_steps";

// Everything of the model that must be the same for a run to go on; duration, cadence and batch may
// change.
std::map<std::string, std::string> model_texts(const TrainStep& step) {
  std::map<std::string, std::string> texts = shape_texts(step.options().shape);
  texts["compute"] = std::string(name_of(step.options().compute));
  texts["spectral_norm"] = step.options().shape.widths.spectral_norm ? "true" : "false";
  texts[kDStepsText] = std::to_string(step.options().d_steps);
  texts["objective"] = step.options().objective == Objective::Joint ? "joint" : "dgq";
  return texts;
}

std::map<std::string, std::string> data_texts(const DataFacts& data) {
  return {{"classes", text_of(data.class_names)},
          {"images_by_class", text_of(data.counts)},
          {"data_kind", data.kind},
          {"data_fingerprint", data.fingerprint}};
}

// Checkpoints from before presets, spectral normalisation and d_steps do not mention them.
std::string model_text_in(const Checkpoint& checkpoint, const std::string& key) {
  if (key == kPresetText) return preset_name(preset_of(checkpoint));
  if (key == kDStepsText && !checkpoint.has_text(key)) return "1";
  return key == "spectral_norm" && !checkpoint.has_text(key) ? "false" : checkpoint.text(key);
}

// At most so many names or counts in a message.
constexpr std::size_t kNamed = 5;

std::string first_few(const std::vector<std::string>& items) {
  const auto named = static_cast<std::ptrdiff_t>(std::min(kNamed, items.size()));
  std::string text = fmt::format("{}", fmt::join(items.begin(), items.begin() + named, ", "));
  if (items.size() > kNamed) text += fmt::format(" and {} more", items.size() - kNamed);
  return text;
}

// The strings of a JSON list; none where it is no such list.
std::vector<std::string> strings_in(const std::string& text) {
  const Json list = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  std::vector<std::string> strings;
  if (!list.is_array()) return strings;
  for (const Json& item : list) strings.push_back(item.is_string() ? item.get<std::string>() : "");
  return strings;
}

void compare_classes(const std::string& there, const std::string& here,
                     std::vector<std::string>& differences) {
  if (there == here) return;
  const std::vector<std::string> names_there = strings_in(there), names_here = strings_in(here);
  const auto missing = [](const auto& from, const auto& in) {
    std::vector<std::string> names;
    for (const std::string& name : from) {
      if (std::find(in.begin(), in.end(), name) == in.end()) names.push_back(name);
    }
    return names;
  };
  const auto only_there = missing(names_there, names_here);
  const auto only_here = missing(names_here, names_there);
  if (!only_there.empty()) differences.push_back("classes only there: " + first_few(only_there));
  if (!only_here.empty()) differences.push_back("classes only here: " + first_few(only_here));
  if (only_there.empty() && only_here.empty()) {
    differences.push_back("the classes are in another order there");
  }
}

// What of kind and counts explains why the fingerprints differ; older checkpoints do not know.
void explain_fingerprint(const Checkpoint& checkpoint, const DataFacts& data,
                         std::vector<std::string>& differences) {
  if (checkpoint.has_text("data_kind") && checkpoint.text("data_kind") != data.kind) {
    differences.push_back(
        fmt::format("data_kind is {} there and {} here", checkpoint.text("data_kind"), data.kind));
  }
  if (!checkpoint.has_text("images_by_class")) return;
  const Json counts = Json::parse(checkpoint.text("images_by_class"), nullptr, false);
  if (!counts.is_array() || counts.size() != data.counts.size()) return;
  std::vector<std::string> others;
  for (std::size_t i = 0; i < data.counts.size(); ++i) {
    if (counts[i] == data.counts[i]) continue;
    others.push_back(fmt::format("{} has {} there and {} here", data.class_names[i],
                                 counts[i].dump(), data.counts[i]));
  }
  if (!others.empty()) differences.push_back("images by class: " + first_few(others));
}

}  // namespace

ModelPreset preset_of(const Checkpoint& checkpoint) {
  if (!checkpoint.has_text(kPresetText)) return ModelPreset::Study;
  const std::string& text = checkpoint.text(kPresetText);
  for (const ModelPreset preset : {ModelPreset::Study, ModelPreset::Resnet32}) {
    if (text == preset_name(preset)) return preset;
  }
  fail(ErrorKind::Output, "{}: {} should be study or resnet32, found \"{}\"", checkpoint.source(),
       kPresetText, text);
}

std::map<std::string, std::string> identity_texts(const TrainStep& step, const DataFacts& data) {
  std::map<std::string, std::string> texts = model_texts(step);
  texts.merge(data_texts(data));
  return texts;
}

void refuse_differences(const Checkpoint& checkpoint, const TrainStep& step,
                        const DataFacts& data) {
  std::vector<std::string> differences;
  const bool is_other_preset = preset_of(checkpoint) != step.options().shape.widths.preset;
  for (const auto& [key, here] : model_texts(step)) {
    const bool is_only_here = key.ends_with("_width") && !checkpoint.has_text(key);
    if (is_other_preset && is_only_here) continue;
    if (key == kDStepsText && !moves_rate(step.options().d.schedule)) continue;
    const std::string there = model_text_in(checkpoint, key);
    if (there != here) {
      differences.push_back(fmt::format("{} is {} there and {} here", key, there, here));
    }
  }
  compare_classes(checkpoint.text("classes"), text_of(data.class_names), differences);
  const std::string& fingerprint = checkpoint.text("data_fingerprint");
  if (fingerprint != data.fingerprint) {
    differences.push_back(
        fmt::format("data_fingerprint is {} there and {} here", fingerprint, data.fingerprint));
    explain_fingerprint(checkpoint, data, differences);
  }
  if (differences.empty()) return;
  fail(ErrorKind::Output, "{} belongs to another run: {}; use its own config and data",
       checkpoint.source(), fmt::join(differences, ", "));
}

}  // namespace acgan
