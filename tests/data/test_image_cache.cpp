#include "data/image_cache.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "data/data_files.h"
#include "data/image_folder.h"
#include "data/picture_files.h"

namespace acgan {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using test::Bytes;
using test::plain;
using test::png;
using test::TemporaryFolder;

// Sets a variable of the environment; what it was comes back at the end.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    ::setenv(name, value.c_str(), 1);
  }
  ~Environment() {
    if (old_) {
      ::setenv(name_, old_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

struct CacheFixture {
  CacheFixture() {
    config.kind = DataKind::Folder;
    config.path = data.path();
    config.image_size = 8;
    data.write("a/1.png", png(plain(5, 5, {1, 2, 3})));
    data.write("a/2.png", png(plain(8, 8, {40})));
    data.write("b/3.png", png(plain(9, 4, {200, 0, 0})));
  }

  // Whether the images came from the cache; they must be what decoding gives.
  bool is_cached() const {
    DataConfig plain_config = config;
    plain_config.cache = false;
    const Dataset cached = load_image_folder(config);
    const Dataset decoded = load_image_folder(plain_config);
    CHECK(cached.images == decoded.images);
    CHECK(cached.labels == decoded.labels);
    return cached.description.find(", decoded before") != std::string::npos;
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> paths;
    if (!fs::exists(cache.path() + "/acgan-train")) return paths;
    for (const auto& entry : fs::directory_iterator(cache.path() + "/acgan-train")) {
      paths.push_back(entry.path());
    }
    return paths;
  }

  TemporaryFolder data, cache;
  Environment place{"XDG_CACHE_HOME", cache.path()};
  DataConfig config;
};

}  // namespace

TEST_CASE_METHOD(CacheFixture, "the second start takes decoded images from the cache") {
  CHECK_FALSE(is_cached());
  CHECK(is_cached());
  CHECK(files().size() == 1);
  config.cache = false;
  CHECK_FALSE(is_cached());
}

TEST_CASE_METHOD(CacheFixture, "any change of files or settings is noticed") {
  CHECK_FALSE(is_cached());
  data.write("a/2.png", png(plain(8, 8, {41})));  // the same size in bytes, most likely
  CHECK_FALSE(is_cached());
  CHECK(is_cached());
  data.write("b/4.png", png(plain(3, 3, {7})));
  CHECK_FALSE(is_cached());
  data.remove("b/4.png");
  CHECK_FALSE(is_cached());
  fs::rename(data.path() + "/a/1.png", data.path() + "/a/0.png");
  CHECK_FALSE(is_cached());
  CHECK(files().size() == 1);  // what is outdated goes
  config.image_size = 12;
  CHECK_FALSE(is_cached());
  config.channels = 1;
  CHECK_FALSE(is_cached());
  config.limit_per_class = 1;
  CHECK_FALSE(is_cached());
  config.classes = {"b", "a"};
  CHECK_FALSE(is_cached());
  CHECK(is_cached());
  CHECK(files().size() == 5);
}

TEST_CASE_METHOD(CacheFixture, "skipped images are remembered with the others") {
  data.write("a/broken.png", std::string_view("x"));
  config.skip_unreadable = true;
  CHECK_FALSE(is_cached());
  CHECK(is_cached());
  CHECK_THAT(load_image_folder(config).description,
             Contains("1 unreadable image skipped (the first: " + data.path() + "/a/broken.png)"));
  config.skip_unreadable = false;  // errors are never taken from the cache
  CHECK_THAT(test::error_of(ErrorKind::Data, [&] { load_image_folder(config); }),
             Contains("a/broken.png"));
}

TEST_CASE_METHOD(CacheFixture, "a damaged cache is decoded again, wherever the damage is") {
  CHECK_FALSE(is_cached());
  REQUIRE(files().size() == 1);
  const fs::path file = files().front();
  const auto size = static_cast<std::size_t>(fs::file_size(file));
  const auto change = [&](std::size_t offset) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<long>(offset));
    const int byte = stream.get();
    stream.seekp(static_cast<long>(offset));
    stream.put(static_cast<char>(byte ^ 0x40));
  };
  for (std::size_t offset = 0; offset < size; offset += offset < 48 ? 1 : 37) {
    change(offset);
    CHECK_FALSE(is_cached());  // and it is written anew
  }
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{20}, size - 1, size + 1}) {
    fs::resize_file(file, bytes);
    CHECK_FALSE(is_cached());
  }
  CHECK(is_cached());
  fs::remove(file);
  fs::create_directory(file);
  CHECK_FALSE(is_cached());
}

TEST_CASE_METHOD(CacheFixture, "without a place for the cache everything works") {
  {
    const Environment file_in_the_way("XDG_CACHE_HOME", data.path() + "/a/1.png");
    CHECK_FALSE(is_cached());
    CHECK_THAT(load_image_folder(config).description, Contains("not kept for the next start"));
  }
  const Environment relative("XDG_CACHE_HOME", "relative");  // is to be ignored
  {
    const Environment home("HOME", cache.path());
    CHECK_FALSE(is_cached());
    CHECK(is_cached());
    CHECK(fs::exists(cache.path() + "/.cache/acgan-train"));
  }
  const Environment home("HOME", "");
  CHECK_FALSE(is_cached());
  CHECK_THAT(load_image_folder(config).description, Contains("neither XDG_CACHE_HOME nor HOME"));
}

TEST_CASE_METHOD(CacheFixture, "what nobody used for a month goes, other files stay") {
  const std::string folder = "acgan-train/";
  const std::string unused = folder + "0123456789abcdef-0123456789abcdef.images";
  const std::string used = folder + "0123456789abcdef-0123456789abcde0.images";
  const std::string other = folder + "notes.txt";
  const auto month_ago = fs::file_time_type::clock::now() - std::chrono::hours(24 * 31);
  for (const std::string& name : {unused, used, other}) {
    cache.write(name, std::string_view("x"));
    if (name != used) fs::last_write_time(cache.path() + "/" + name, month_ago);
  }
  cache.write(folder + ".x.images.2147483646.tmp", std::string_view("left behind"));
  CHECK_FALSE(is_cached());
  CHECK_FALSE(fs::exists(cache.path() + "/" + unused));
  CHECK(fs::exists(cache.path() + "/" + used));
  CHECK(fs::exists(cache.path() + "/" + other));
  CHECK(files().size() == 3);

  // Beyond 4 GiB the oldest go first; the sizes are claims, nothing is written.
  const std::string older = folder + "1123456789abcdef-0123456789abcdef.images";
  cache.write(older, std::string_view("x"));
  cache.resize(older, std::uint64_t{3} << 30);
  cache.resize(used, std::uint64_t{3} << 30);
  fs::last_write_time(cache.path() + "/" + older,
                      fs::file_time_type::clock::now() - std::chrono::hours(2));
  data.write("b/4.png", png(plain(3, 3, {7})));
  CHECK_FALSE(is_cached());
  CHECK_FALSE(fs::exists(cache.path() + "/" + older));
  CHECK(fs::exists(cache.path() + "/" + used));
}

}  // namespace acgan
