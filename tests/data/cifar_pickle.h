#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/bytes.h"

// Pickles for tests and fuzz targets.
namespace acgan::test {

// Who wrote a pickle, and how.
enum class PickleStyle {
  Python2Protocol0,  // lines of text
  Python2Protocol2,  // byte strings, as the official files
  Python3Protocol2,  // byte strings as calls of _codecs.encode
  Python3Protocol4,  // frames, short texts
};

// Writes values behind each other.
class PickleWriter {
 public:
  explicit PickleWriter(PickleStyle style);

  PickleWriter& raw(const std::string& bytes);
  PickleWriter& integer(std::int64_t number);
  PickleWriter& text(const std::string& bytes);
  PickleWriter& integers(const std::vector<int>& numbers);
  PickleWriter& texts(const std::vector<std::string>& texts);
  // A uint8 array [rows, columns].
  PickleWriter& array(std::size_t rows, std::size_t columns, const Bytes& data,
                      bool is_column_major = false);
  PickleWriter& begin_dict();
  Bytes end_dict();  // and of the pickle
  Bytes bytes() const { return bytes_; }

 private:
  void object(const std::string& module, const std::string& name);
  void unicode(const std::string& utf8);
  void keep();  // into the memo, as Python does with everything
  void little_endian(std::uint64_t value, int bytes);

  PickleStyle style_;
  Bytes bytes_;
  int kept_ = 0;
};

// A batch of CIFAR with these labels under `labels_key`; 3072 bytes of `data` an image.
Bytes cifar_pickle(PickleStyle style, const std::string& labels_key, const std::vector<int>& labels,
                   const Bytes& data);

}  // namespace acgan::test
