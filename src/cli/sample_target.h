#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/command_line.h"

namespace acgan {

// Images [rows * columns, side, side, channels], row by row.
struct ImageGrid {
  std::int64_t rows = 0, columns = 0, side = 0, channels = 0;
  std::vector<std::uint8_t> pixels;
};

// Where `sample` writes, decided before any work is done.
class SampleTarget {
 public:
  // Throws Error{Usage} where --out does not go with what is asked for.
  explicit SampleTarget(const SampleCommand& command);

  // A grid, an array, or a file for each image, named after the class of its column. Makes the
  // folder. Throws Error{Output}.
  void write(const ImageGrid& grid, const std::vector<std::int32_t>& labels,
             const std::vector<std::string>& class_names) const;
  std::string path() const { return path_.string(); }

 private:
  enum class Format { Grid, Npy, Singles };
  Format format_ = Format::Grid;
  std::filesystem::path path_;
};

// Throws Error{Output}.
void make_out_folder(const std::filesystem::path& folder);

}  // namespace acgan
