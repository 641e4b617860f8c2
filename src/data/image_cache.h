#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/config.h"

namespace acgan {

// Decoded and resized images, kept between runs.
struct CachedImages {
  std::vector<std::uint8_t> is_kept;  // one a file: 1, or 0 where it could not be read
  std::vector<std::uint8_t> images;   // of those that are kept, [n,S,S,C]
};

// Where decoded images of one data set with one setting are kept: a file in
// $XDG_CACHE_HOME/acgan-train, else ~/.cache/acgan-train. It is taken only if it was made from
// exactly these files (paths, sizes, times of change) with these settings, and its check sum
// matches. Whatever is wrong with it or with the folder is as if there were no cache.
class ImageCache {
 public:
  // `paths`: all image files, in order. They are looked at now: what changes later is not missed.
  ImageCache(const DataConfig& config, std::span<const std::string> paths);

  std::optional<CachedImages> load() const;

  // Keeps `images` for the next start, and removes what is stale: other states of the same data
  // set, files that nobody used for 30 days, the oldest ones beyond 4 GiB in all. Returns why
  // nothing could be kept; nothing on success.
  std::optional<std::string> store(const CachedImages& images) const;

 private:
  void remove_stale() const;

  std::string folder_;             // empty: there is no place for a cache
  std::string name_, name_begin_;  // of the file; what the same data set's files begin with
  std::string manifest_;           // what the images depend on
  std::size_t file_count_ = 0, image_bytes_ = 0;
};

}  // namespace acgan
