#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace acgan {

// A file without a name, to hand to another program: nobody else finds it, and nothing is left of
// it however this process ends. Unlike a pipe it never makes the writer wait for the reader.
class UnnamedFile {
 public:
  static UnnamedFile in_memory(std::string_view content = "");
  // On the disk of $TMPDIR, or of /tmp. These throw Error{Output}.
  static UnnamedFile on_disk();
  ~UnnamedFile();
  UnnamedFile(UnnamedFile&& other) noexcept;
  UnnamedFile& operator=(UnnamedFile&&) = delete;
  UnnamedFile(const UnnamedFile&) = delete;
  UnnamedFile& operator=(const UnnamedFile&) = delete;

  // Throws Error{Output} where the disk is full.
  void append(std::span<const std::byte> piece);
  std::uint64_t size() const;
  // Throws Error{Output} where it does not hold so much.
  void read(std::uint64_t offset, std::span<std::byte> target) const;
  std::string text() const;  // all of it

  // For a child process, which finds it at its beginning; no number that one has its files at.
  int descriptor() const { return descriptor_; }

 private:
  explicit UnnamedFile(int opened, const std::string& place);

  int descriptor_ = -1;
  std::string place_;  // for messages
};

}  // namespace acgan
