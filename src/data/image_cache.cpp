#include "data/image_cache.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/atomic_file.h"
#include "base/cache_folder.h"
#include "base/checksum.h"
#include "base/error.h"
#include "data/input_file.h"

namespace acgan {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".images";
constexpr std::uint64_t kMostFileBytes = std::uint64_t{2} << 30;
constexpr std::uint64_t kMostFolderBytes = std::uint64_t{4} << 30;
constexpr auto kLongestUnused = std::chrono::hours{24 * 30};

// To be raised whenever the same files give other pixels.
constexpr int kDecoderVersion = 1;

struct Header {
  std::array<char, 8> magic = {'a', 'c', 'g', 'a', 'n', 'i', 'm', '1'};
  std::uint64_t manifest_bytes = 0, files = 0, image_bytes = 0;
  std::uint64_t checksum = 0;  // of manifest, is_kept and images
};

std::string absolute(const std::string& path) {
  std::error_code ignored;
  const fs::path real = fs::canonical(path, ignored);
  return ignored ? path : real.string();
}

// Size and times of change: nothing else tells a changed file without reading it.
std::string describe_file(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return "missing";
  return fmt::format("{} {}.{} {}.{}", status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
}

std::string hash_of(std::string_view text) {
  Checksum checksum;
  checksum.add(text);
  return fmt::format("{:016x}", checksum.value());
}

std::uint64_t checksum_of(std::string_view manifest, const CachedImages& images) {
  Checksum checksum;
  checksum.add(manifest);
  checksum.add(std::as_bytes(std::span(images.is_kept)));
  checksum.add(std::as_bytes(std::span(images.images)));
  return checksum.value();
}

template <typename Value>
std::span<std::uint8_t> writable_bytes(Value& value) {
  return {reinterpret_cast<std::uint8_t*>(&value), sizeof(value)};
}

// A file of the cache: 16 hexadecimal digits, a hyphen, 16 more, the ending.
bool is_cache_file(std::string_view name) {
  constexpr std::size_t kDigits = 16;
  if (name.size() != 2 * kDigits + 1 + kEnding.size() || !name.ends_with(kEnding)) return false;
  name.remove_suffix(kEnding.size());
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool is_digit = (name[i] >= '0' && name[i] <= '9') || (name[i] >= 'a' && name[i] <= 'f');
    if (i == kDigits ? name[i] != '-' : !is_digit) return false;
  }
  return true;
}

struct Entry {
  fs::path path;
  std::uint64_t bytes = 0;
  fs::file_time_type used;
};

// Newest first.
std::vector<Entry> list_entries(const std::string& folder) {
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::directory_iterator item(folder, error); !error && item != fs::directory_iterator();
       item.increment(error)) {
    if (!is_cache_file(item->path().filename().string())) continue;
    std::error_code gone;  // another process tidies up as well
    const Entry entry{item->path(), item->file_size(gone), item->last_write_time(gone)};
    if (!gone) entries.push_back(entry);
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used > b.used; });
  return entries;
}

}  // namespace

ImageCache::ImageCache(const DataConfig& config, std::span<const std::string> paths)
    : folder_(default_cache_folder()), file_count_(paths.size()) {
  const std::int64_t channels = config.channels == 1 ? 1 : 3;
  image_bytes_ = static_cast<std::size_t>(config.image_size * config.image_size * channels);
  const std::string settings = fmt::format(
      "decoder {}, size {}, channels {}, unreadable ones {}, at most {} a class, folder {}, "
      "classes "
      "{}\n",
      kDecoderVersion, config.image_size, channels, config.skip_unreadable ? "skipped" : "refused",
      config.limit_per_class, absolute(config.path), fmt::join(config.classes, "/"));
  manifest_ = settings;
  for (const std::string& path : paths) {
    manifest_ += fmt::format("{} {}\n", describe_file(path), path);
  }
  name_begin_ = hash_of(settings) + "-";
  name_ = name_begin_ + hash_of(manifest_) + std::string(kEnding);
}

std::optional<CachedImages> ImageCache::load() const {
  if (folder_.empty()) return std::nullopt;
  const fs::path path = fs::path(folder_) / name_;
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  try {
    const InputFile file(path.string());
    Header header;
    if (file.size() < sizeof(header)) return std::nullopt;
    file.read(0, writable_bytes(header));
    const bool is_ours =
        header.magic == Header{}.magic && header.manifest_bytes == manifest_.size() &&
        header.files == file_count_ && header.image_bytes <= file_count_ * image_bytes_ &&
        file.size() == sizeof(header) + header.manifest_bytes + header.files + header.image_bytes;
    if (!is_ours) return std::nullopt;

    std::vector<std::uint8_t> manifest(manifest_.size());
    CachedImages cached{.is_kept = std::vector<std::uint8_t>(file_count_),
                        .images = std::vector<std::uint8_t>(header.image_bytes)};
    std::uint64_t offset = sizeof(header);
    for (auto* part : {&manifest, &cached.is_kept, &cached.images}) {
      file.read(offset, *part);
      offset += part->size();
    }
    const auto kept = std::count(cached.is_kept.begin(), cached.is_kept.end(), std::uint8_t{1});
    const bool is_sound =
        std::equal(manifest.begin(), manifest.end(), manifest_.begin(),
                   [](std::uint8_t a, char b) { return a == static_cast<std::uint8_t>(b); }) &&
        static_cast<std::size_t>(kept) * image_bytes_ == cached.images.size() &&
        checksum_of(manifest_, cached) == header.checksum;
    if (!is_sound) return std::nullopt;
    fs::last_write_time(path, fs::file_time_type::clock::now(), error);  // it was of use
    return cached;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<std::string> ImageCache::store(const CachedImages& images) const {
  if (folder_.empty()) return "neither XDG_CACHE_HOME nor HOME is set";
  const std::uint64_t bytes =
      sizeof(Header) + manifest_.size() + images.is_kept.size() + images.images.size();
  if (bytes > kMostFileBytes) return "they have more than 2 GiB";
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return fmt::format("cannot make {}: {}", folder_, error.message());
  Header header;
  header.manifest_bytes = manifest_.size();
  header.files = images.is_kept.size();
  header.image_bytes = images.images.size();
  header.checksum = checksum_of(manifest_, images);
  const std::array<std::span<const std::byte>, 4> pieces = {
      std::as_bytes(std::span(&header, 1)), std::as_bytes(std::span(manifest_)),
      std::as_bytes(std::span(images.is_kept)), std::as_bytes(std::span(images.images))};
  try {
    remove_stale_temporary_files(folder_);
    write_file_atomically((fs::path(folder_) / name_).string(), pieces);
  } catch (const Error& failure) {
    return failure.what();
  }
  remove_stale();
  return std::nullopt;
}

void ImageCache::remove_stale() const {
  const auto now = fs::file_time_type::clock::now();
  std::uint64_t bytes = 0;
  for (const Entry& entry : list_entries(folder_)) {
    const std::string name = entry.path.filename().string();
    bytes += entry.bytes;
    const bool is_outdated = name.starts_with(name_begin_) && name != name_;
    const bool is_unused = now - entry.used > kLongestUnused;
    if (!is_outdated && !is_unused && (bytes <= kMostFolderBytes || name == name_)) continue;
    bytes -= entry.bytes;
    std::error_code ignored;
    fs::remove(entry.path, ignored);
  }
}

}  // namespace acgan
