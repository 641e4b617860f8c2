#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/archive.h"

namespace acgan {

enum class CifarSet { Cifar10, Cifar100 };

// "CIFAR-10"
std::string_view name_of(CifarSet set);

// The files of a CIFAR data set, wherever they lie: in a folder, in its subfolder of the known name
// (cifar-10-batches-bin, ...), or in an archive (cifar-10-binary.tar.gz, ...), which is read
// without unpacking it. The binary version goes before the python version.
class CifarFiles {
 public:
  // `path` is the folder, one above it, or an archive. Throws Error{Data} where there is none of
  // them; which files are there is not looked at.
  CifarFiles(const std::string& path, CifarSet set);

  const std::string& place() const { return place_; }  // of the folder or archive
  const std::vector<std::string>& names() const { return names_; }
  bool has(std::string_view name) const;
  // Whether the files look like those of the other set.
  bool is_other_set() const;

  std::string path_of(const std::string& name) const;  // for messages
  // The contents of a file that is there; of an archive's only once. Throws Error{Data} beyond
  // `limit` bytes.
  std::vector<std::uint8_t> take(const std::string& name, std::uint64_t limit);

 private:
  void open_folder(const std::string& path);
  void open_archive(const std::string& path);

  CifarSet set_;
  std::string place_;
  bool is_archive_ = false;
  std::vector<std::string> names_;  // sorted
  ArchiveFiles files_;              // of an archive
};

}  // namespace acgan
