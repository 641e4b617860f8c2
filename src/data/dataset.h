#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"

namespace acgan {

// A labelled set of images in memory, once, as uint8.
struct Dataset {
  std::int64_t height = 0, width = 0, channels = 0;
  std::vector<std::string> class_names;  // by label
  std::vector<std::uint8_t> images;      // [M,H,W,C], 0..255
  std::vector<std::int32_t> labels;      // [M], each in [0, class_names.size())
  std::string description;               // "quickdraw, 10 files in PATH" for the start-up log

  std::int64_t count() const { return static_cast<std::int64_t>(labels.size()); }
  std::vector<std::int64_t> counts_by_class() const;
};

// Loads what the config names (training part, without the share data.held_out). `seed` is for the
// built-in set only. Throws Error{Data} with file, what was found, what was expected and what to
// do.
Dataset load_dataset(const DataConfig& config, std::uint64_t seed);

// What load_dataset throws with where the loaded set cannot feed such a run (fewer images than
// `batch`, a class without an image).
void check_dataset(const Dataset& dataset, std::int64_t batch);

// A short fingerprint of pixels, labels and class names, kept in checkpoints (16 hex digits).
std::string fingerprint_of(const Dataset& dataset);

}  // namespace acgan
