#include "data/data_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>

#include "base/error.h"

namespace acgan::test {

TemporaryFolder::TemporaryFolder() {
  static std::atomic<int> counter = 0;
  path_ = std::filesystem::temp_directory_path() /
          fmt::format("acgan_data_{}_{}", ::getpid(), counter++);
  std::filesystem::create_directory(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void TemporaryFolder::write(const std::string& name, const Bytes& bytes) const {
  write(name, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void TemporaryFolder::write(const std::string& name, std::string_view text) const {
  std::filesystem::create_directories((path_ / name).parent_path());
  std::ofstream file(path_ / name, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  REQUIRE(file.good());
}

void TemporaryFolder::make_folder(const std::string& name) const {
  std::filesystem::create_directories(path_ / name);
}

void TemporaryFolder::make_link(const std::string& name, const std::string& target) const {
  std::filesystem::create_directories((path_ / name).parent_path());
  std::filesystem::create_symlink(target, path_ / name);
}

void TemporaryFolder::make_pipe(const std::string& name) const {
  std::filesystem::create_directories((path_ / name).parent_path());
  REQUIRE(::mkfifo((path_ / name).c_str(), 0600) == 0);
}

void TemporaryFolder::remove(const std::string& name) const {
  std::filesystem::remove_all(path_ / name);
}

void TemporaryFolder::resize(const std::string& name, std::uint64_t bytes) const {
  std::filesystem::resize_file(path_ / name, bytes);
}

Bytes pattern(std::size_t count, int salt) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<std::uint8_t>((i * 31 + i / 251 + static_cast<std::size_t>(salt) * 97));
  }
  return bytes;
}

Bytes concatenated(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace acgan::test
