#include "train/progress_animation.h"

#include <algorithm>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/error.h"
#include "data/image.h"
#include "data/input_file.h"
#include "run/animation.h"

namespace acgan {
namespace {

constexpr int kFrameMs = 150, kLastFrameMs = 2000;
constexpr std::size_t kMostFrames = 200;
constexpr std::int64_t kMostPixels = std::int64_t{32} << 20;     // of all frames together
constexpr std::int64_t kMostGridPixels = std::int64_t{4} << 20;  // of one
constexpr std::uint64_t kLargestFile = std::uint64_t{64} << 20;  // of a grid, in bytes

Picture read_grid(const std::string& path) {
  const std::vector<std::uint8_t> bytes = InputFile(path).read_all(kLargestFile);
  Image image = decode_image(bytes, path, 3, kMostGridPixels);
  return {.height = image.height,
          .width = image.width,
          .channels = image.channels,
          .pixels = std::move(image.pixels)};
}

// How many frames of this size are shown.
std::size_t most_frames(const Picture& picture) {
  const std::int64_t fitting =
      kMostPixels / std::max<std::int64_t>(1, picture.height * picture.width);
  return std::clamp(static_cast<std::size_t>(fitting), std::size_t{2}, kMostFrames);
}

}  // namespace

std::vector<std::size_t> evenly_chosen(std::size_t count, std::size_t of) {
  std::vector<std::size_t> chosen;
  count = std::min(count, of);
  for (std::size_t i = 0; i < count; ++i) {
    chosen.push_back(count == 1 ? of - 1 : i * (of - 1) / (count - 1));
  }
  return chosen;
}

AnimationFacts write_progress_animation(const RunDirectory& run, const std::string& path) {
  const std::vector<std::string> files = run.fakes_files();
  if (files.empty()) {
    fail(ErrorKind::Output, "{}: there is no sample grid to animate in samples/", run.path());
  }
  // The newest is what the run draws now: grids of another size (resumed with other rows) go.
  const Picture newest = read_grid(files.back());
  Animation animation(newest.height, newest.width);
  AnimationFacts facts{
      .grids = static_cast<std::int64_t>(files.size()), .frames = 0, .left_out = {}};
  for (const std::size_t i : evenly_chosen(most_frames(newest), files.size())) {
    const bool is_last = i + 1 == files.size();
    try {
      const Picture grid = is_last ? newest : read_grid(files[i]);
      if (grid.height != newest.height || grid.width != newest.width) {
        fail(ErrorKind::Data, "{} has another size than the newest grid", files[i]);
      }
      animation.add(grid, is_last ? kLastFrameMs : kFrameMs);
      ++facts.frames;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Data) throw;
      facts.left_out = error.what();
    }
  }
  write_file_atomically(path, animation.finish());
  return facts;
}

}  // namespace acgan
