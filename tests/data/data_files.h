#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "data/bytes.h"
#include "data/made_files.h"

namespace acgan::test {

// A folder that goes with everything in it when the test ends.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path() const { return path_.string(); }
  // Writes a file, and the folders above it where they are missing.
  void write(const std::string& name, const Bytes& bytes) const;
  void write(const std::string& name, std::string_view text) const;
  void make_folder(const std::string& name) const;
  // What a data folder may hold beside files.
  void make_link(const std::string& name, const std::string& target) const;
  void make_pipe(const std::string& name) const;
  void remove(const std::string& name) const;
  // Makes a file longer or shorter; what is added takes no disk space.
  void resize(const std::string& name, std::uint64_t bytes) const;

 private:
  std::filesystem::path path_;
};

// `count` bytes that follow a pattern; different for every `salt`.
Bytes pattern(std::size_t count, int salt);

Bytes concatenated(std::initializer_list<Bytes> parts);

// The message of the Error of this kind that `action` throws; fails the test if it throws none.
template <typename Action>
std::string error_of(ErrorKind kind, Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    return error.what();
  }
  FAIL("no error was thrown");
  return {};
}

}  // namespace acgan::test
