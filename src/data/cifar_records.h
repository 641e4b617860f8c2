#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "config/config.h"
#include "data/cifar_files.h"

namespace acgan {

enum class CifarVersion { Binary, Python };

// Which records: of which set, and which of CIFAR-100's two labels (CIFAR-10 has one).
struct CifarFormat {
  CifarSet set = CifarSet::Cifar10;
  CifarVersion version = CifarVersion::Binary;
  Cifar100Labels labels = Cifar100Labels::Fine;

  std::size_t classes() const;
};

// The images and labels of one file, all labels below classes().
struct CifarRecords {
  std::vector<std::uint8_t> bytes;
  std::size_t first = 0, stride = 0;  // where an image begins in `bytes`, and from one to the next
  std::vector<std::uint8_t> labels;

  // Image `n`: 1024 bytes of red, then green, then blue.
  std::span<const std::uint8_t> planes(std::size_t n) const;
};

// Decodes a file of records. Throws Error{Data} naming `path` where its length, a label, or what
// is in a pickle is not right; a file of the other set is named as that.
CifarRecords decode_cifar_records(std::vector<std::uint8_t> bytes, const std::string& path,
                                  const CifarFormat& format);

// The class names: one a line (binary version), or in a pickle. Throws Error{Data} where there
// are not classes() different ones.
std::vector<std::string> decode_cifar_names(std::vector<std::uint8_t> bytes,
                                            const std::string& path, const CifarFormat& format);

}  // namespace acgan
