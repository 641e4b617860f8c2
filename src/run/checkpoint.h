#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace acgan {

// Named arrays and string metadata in one safetensors file (8 bytes little-endian header length,
// JSON header, raw little-endian arrays), complete or not there: written under a temporary name,
// fsync, rename.
class Checkpoint {
 public:
  enum class Type { F32, F64, F16, BF16, U8, I32, I64 };
  struct Array {
    Type type = Type::F32;
    std::vector<std::int64_t> shape;
    std::vector<std::byte> bytes;
  };

  // Copies the array that `data` points at; replaces one of the same name.
  void set(const std::string& name, Type type, std::vector<std::int64_t> shape, const void* data);
  // Into __metadata__; bytes that are no UTF-8 become U+FFFD. "checksum" is a key of our own.
  void set_text(const std::string& key, const std::string& value);

  bool has(const std::string& name) const;
  bool has_text(const std::string& key) const;
  // Throw Error{Output} naming the file when the name is missing.
  const Array& at(const std::string& name) const;
  const std::string& text(const std::string& key) const;
  const std::map<std::string, Array>& arrays() const { return arrays_; }
  const std::map<std::string, std::string>& texts() const { return texts_; }
  const std::string& source() const { return source_; }
  // Whether the file that it was loaded from had one, so that damage would have been noticed.
  bool has_checksum() const { return has_checksum_; }
  std::size_t byte_size() const;  // of all arrays

  // Writes atomically. A checksum of all names, types, shapes, data and texts goes into the
  // metadata (key "checksum"). Throws Error{Output}; the old file at `path`, if any, stands then.
  void save(const std::string& path) const;

  // Reads and checks everything: header length and syntax, dtypes, ranges that overlap or leave
  // the file, checksum where there is one. Throws Error{Output} naming file and fault. Never
  // allocates more for the arrays than the file's size, nor reads a file larger than the memory.
  static Checkpoint load(const std::string& path);
  // The texts() of a file from its header alone: quick, but a checksum is not compared.
  static std::map<std::string, std::string> load_texts(const std::string& path);

 private:
  std::map<std::string, Array> arrays_;
  std::map<std::string, std::string> texts_;
  std::string source_ = "a checkpoint in memory";
  bool has_checksum_ = false;
};

std::size_t size_of(Checkpoint::Type type);

}  // namespace acgan
