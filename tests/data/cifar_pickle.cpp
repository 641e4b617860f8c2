#include "data/cifar_pickle.h"

#include "base/format.h"

namespace acgan::test {

PickleWriter::PickleWriter(PickleStyle style) : style_(style) {
  if (style == PickleStyle::Python3Protocol4) {
    raw("\x80\x04\x95");
    little_endian(0, 8);  // a frame's length, which readers need not mind
  } else if (style != PickleStyle::Python2Protocol0) {
    raw("\x80\x02");
  }
}

PickleWriter& PickleWriter::raw(const std::string& bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return *this;
}

void PickleWriter::little_endian(std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) bytes_.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

void PickleWriter::keep() {
  if (style_ == PickleStyle::Python2Protocol0) {
    raw(fmt::format("p{}\n", kept_++));
  } else if (style_ == PickleStyle::Python3Protocol4) {
    raw("\x94");
  } else if (kept_ < 256) {
    raw("q");
    little_endian(static_cast<std::uint64_t>(kept_++), 1);
  } else {
    raw("r");
    little_endian(static_cast<std::uint64_t>(kept_++), 4);
  }
}

PickleWriter& PickleWriter::integer(std::int64_t number) {
  if (style_ == PickleStyle::Python2Protocol0) return raw(fmt::format("I{}\n", number));
  const bool is_small = number >= 0 && number < 256;
  raw(is_small ? "K" : "J");
  little_endian(static_cast<std::uint64_t>(number), is_small ? 1 : 4);
  return *this;
}

void PickleWriter::unicode(const std::string& utf8) {
  raw("X");
  little_endian(utf8.size(), 4);
  raw(utf8);
  keep();
}

PickleWriter& PickleWriter::text(const std::string& bytes) {
  if (style_ == PickleStyle::Python2Protocol0) {
    raw("S'");
    for (const char letter : bytes) {
      raw(fmt::format("\\x{:02x}", static_cast<unsigned char>(letter)));
    }
    raw("'\n");
  } else if (style_ == PickleStyle::Python3Protocol2) {
    object("_codecs", "encode");
    std::string utf8;
    for (const char letter : bytes) {
      const auto code = static_cast<unsigned char>(letter);
      if (code >= 0x80) utf8 += static_cast<char>(0xC0 | code >> 6);
      utf8 += static_cast<char>(code < 0x80 ? code : 0x80 | (code & 0x3F));
    }
    unicode(utf8);
    unicode("latin1");
    raw("\x86R");
  } else {
    const bool is_short = bytes.size() < 256;
    const bool is_old = style_ == PickleStyle::Python2Protocol2;
    raw(is_old ? (is_short ? "U" : "T") : (is_short ? "C" : "B"));
    little_endian(bytes.size(), is_short ? 1 : 4);
    raw(bytes);
  }
  keep();
  return *this;
}

PickleWriter& PickleWriter::integers(const std::vector<int>& numbers) {
  const bool is_old = style_ == PickleStyle::Python2Protocol0;
  raw(is_old ? "(l" : "]");
  keep();
  if (!is_old) raw("(");
  for (const int number : numbers) {
    integer(number);
    if (is_old) raw("a");
  }
  return is_old ? *this : raw("e");
}

PickleWriter& PickleWriter::texts(const std::vector<std::string>& texts) {
  raw("]");
  keep();
  raw("(");
  for (const std::string& entry : texts) text(entry);
  return raw("e");
}

void PickleWriter::object(const std::string& module, const std::string& name) {
  if (style_ == PickleStyle::Python3Protocol4) {
    for (const std::string& part : {module, name}) {
      raw("\x8c");
      little_endian(part.size(), 1);
      raw(part);
      keep();
    }
    raw("\x93");
  } else {
    raw(fmt::format("c{}\n{}\n", module, name));
  }
  keep();
}

PickleWriter& PickleWriter::array(std::size_t rows, std::size_t columns, const Bytes& data,
                                  bool is_column_major) {
  object("numpy.core.multiarray", "_reconstruct");
  object("numpy", "ndarray");
  raw("(");
  integer(0).raw("t");
  text("b").raw("\x87R");
  raw("(");
  integer(1).raw("(");
  integer(static_cast<std::int64_t>(rows)).integer(static_cast<std::int64_t>(columns)).raw("t");
  object("numpy", "dtype");
  text("u1").integer(0).integer(1).raw("\x87R");
  raw("(");
  integer(3).text("|").raw("NNN").integer(-1).integer(-1).integer(0).raw("tb");
  const bool is_old = style_ == PickleStyle::Python2Protocol0;
  raw(is_old ? (is_column_major ? "I01\n" : "I00\n") : (is_column_major ? "\x88" : "\x89"));
  text(std::string(data.begin(), data.end()));
  return raw("tb");
}

PickleWriter& PickleWriter::begin_dict() {
  raw("}");
  keep();
  return raw("(");
}

Bytes PickleWriter::end_dict() { return raw("u.").bytes_; }

Bytes cifar_pickle(PickleStyle style, const std::string& labels_key, const std::vector<int>& labels,
                   const Bytes& data) {
  PickleWriter writer(style);
  writer.begin_dict();
  writer.text("batch_label").text("training batch 1 of 5");
  writer.text(labels_key).integers(labels);
  writer.text("data").array(labels.size(), 3072, data);
  writer.text("filenames").texts({"a.png", "b.png"});
  return writer.end_dict();
}

}  // namespace acgan::test
