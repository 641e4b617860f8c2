#include "cli/sample_target.h"

#include <algorithm>

#include "base/atomic_file.h"
#include "base/check.h"
#include "base/error.h"
#include "data/data_folder.h"
#include "run/sample_grid.h"

namespace acgan {

namespace {

namespace fs = std::filesystem;

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

void write_singles(const fs::path& folder, const ImageGrid& grid,
                   const std::vector<std::int32_t>& labels,
                   const std::vector<std::string>& class_names) {
  ACGAN_CHECK(static_cast<std::int64_t>(labels.size()) == grid.columns);
  const std::int64_t image_size = grid.side * grid.side * grid.channels;
  auto first = grid.pixels.begin();
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    for (const std::int32_t label : labels) {
      const Picture picture{.height = grid.side,
                            .width = grid.side,
                            .channels = grid.channels,
                            .pixels = {first, first + image_size}};
      const std::string& name = class_names[static_cast<std::size_t>(label)];
      write_png((folder / single_name(label, name, row)).string(), picture);
      first += image_size;
    }
  }
}

}  // namespace

SampleTarget::SampleTarget(const SampleCommand& command) : path_(command.out) {
  const std::string ending = path_.extension().string();
  const bool is_npy = has_extension(command.out, ".npy");
  const bool is_file = is_npy || has_extension(command.out, ".png");
  std::error_code ignored;
  if (!is_file && !ending.empty() && !fs::is_directory(path_, ignored)) {
    fail(ErrorKind::Usage, "--out: expected a name ending in .png or .npy, or a folder, found {}",
         command.out);
  }
  if (command.singles && is_file) {
    fail(ErrorKind::Usage, "--out: expected a folder for --singles, found {}", command.out);
  }
  if (command.singles) {
    format_ = Format::Singles;
  } else if (is_npy) {
    format_ = Format::Npy;
  } else if (!is_file) {
    path_ /= "samples.png";
  }
  if (format_ != Format::Singles) check_is_replaceable(path_.string());
}

void SampleTarget::write(const ImageGrid& grid, const std::vector<std::int32_t>& labels,
                         const std::vector<std::string>& class_names) const {
  make_out_folder(format_ == Format::Singles ? path_ : path_.parent_path());
  switch (format_) {
    case Format::Grid:
      return write_png(path_.string(), make_grid(grid.pixels, grid.rows, grid.columns, grid.side,
                                                 grid.side, grid.channels));
    case Format::Npy:
      return write_npy(path_.string(), grid.pixels, grid.rows * grid.columns, grid.side, grid.side,
                       grid.channels);
    case Format::Singles:
      return write_singles(path_, grid, labels, class_names);
  }
}

void make_out_folder(const fs::path& folder) {
  if (folder.empty()) return;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    fail(ErrorKind::Output, "cannot make the folder {}: {}; choose another with --out",
         folder.string(), error.message());
  }
}

}  // namespace acgan
