#include "data/npy_header.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <string_view>

#include "base/error.h"

namespace acgan {
namespace {

constexpr std::uint64_t kMagicBytes = 8;    // "\x93NUMPY", major, minor
constexpr std::size_t kMaxDimensions = 32;  // as in NumPy

// Reads the header's text, a Python dictionary such as
// {'descr': '|u1', 'fortran_order': False, 'shape': (3600, 784), }
// Nothing in it is ever evaluated.
class HeaderParser {
 public:
  HeaderParser(const ByteSource& file, std::string_view text) : file_(file), text_(text) {}

  void parse(NpyHeader& header) {
    expect('{');
    while (!accept('}')) {
      parse_entry(parse_string(), header);
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_spaces();
    if (position_ != text_.size()) damaged("nothing after the dictionary");
    if (!has_dtype_ || !has_order_ || !has_shape_) {
      damaged("the keys 'descr', 'fortran_order' and 'shape'");
    }
  }

 private:
  [[noreturn]] void damaged(std::string_view expected) const {
    fail(ErrorKind::Data, "'{}' has a damaged .npy header: expected {} at character {} of it",
         file_.path(), expected, position_);
  }

  void skip_spaces() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n')) {
      ++position_;
    }
  }

  bool accept(char wanted) {
    skip_spaces();
    if (position_ == text_.size() || text_[position_] != wanted) return false;
    ++position_;
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) damaged(fmt::format("'{}'", wanted));
  }

  bool accept_word(std::string_view word) {
    skip_spaces();
    if (text_.substr(position_, word.size()) != word) return false;
    position_ += word.size();
    return true;
  }

  std::string parse_string() {
    const char quote = accept('\'') ? '\'' : '"';
    if (quote == '"' && !accept('"')) damaged("a quoted text");
    const std::size_t end = text_.find(quote, position_);
    if (end == std::string_view::npos) damaged("a closing quote");
    const std::string_view content = text_.substr(position_, end - position_);
    position_ = end + 1;
    return std::string(content);
  }

  void parse_entry(const std::string& key, NpyHeader& header) {
    expect(':');
    if (key == "descr" && !has_dtype_) {
      has_dtype_ = true;
      header.dtype = parse_dtype();
    } else if (key == "fortran_order" && !has_order_) {
      has_order_ = true;
      if (accept_word("True")) {
        header.order = NpyOrder::Fortran;
      } else if (!accept_word("False")) {
        damaged("True or False");
      }
    } else if (key == "shape" && !has_shape_) {
      has_shape_ = true;
      header.shape = parse_shape();
    } else {
      damaged("each of 'descr', 'fortran_order' and 'shape' once and no other key");
    }
  }

  // A structured type is a list; its text up to the matching bracket is kept for the message.
  std::string parse_dtype() {
    if (!accept('[')) return parse_string();
    const std::size_t begin = position_ - 1;
    int depth = 1;
    for (; depth > 0; ++position_) {
      if (position_ == text_.size()) damaged("']'");
      if (text_[position_] == '[') ++depth;
      if (text_[position_] == ']') --depth;
    }
    return std::string(text_.substr(begin, position_ - begin));
  }

  std::vector<std::uint64_t> parse_shape() {
    std::vector<std::uint64_t> shape;
    expect('(');
    while (!accept(')')) {
      if (shape.size() == kMaxDimensions) damaged("at most 32 dimensions");
      shape.push_back(parse_size());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }

  std::uint64_t parse_size() {
    skip_spaces();
    const std::size_t begin = position_;
    std::uint64_t value = 0;
    for (; position_ < text_.size() && text_[position_] >= '0' && text_[position_] <= '9';
         ++position_) {
      const auto digit = static_cast<std::uint64_t>(text_[position_] - '0');
      if (value > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) {
        damaged("a size below 2^64");
      }
      value = value * 10 + digit;
    }
    if (position_ == begin) damaged("a size");
    accept('L');  // as Python 2 wrote long integers
    return value;
  }

  const ByteSource& file_;
  std::string_view text_;
  std::size_t position_ = 0;
  bool has_dtype_ = false, has_order_ = false, has_shape_ = false;
};

[[noreturn]] void fail_magic(const ByteSource& file, std::string_view begin) {
  std::string_view hint = "it is not a NumPy array file";
  if (begin.starts_with("PK")) hint = "it looks like a zip or .npz archive: name it .npz";
  if (begin.starts_with("<")) hint = "it looks like a web page: the download failed, repeat it";
  fail(ErrorKind::Data, "'{}' does not begin as a .npy file does: {}", file.path(), hint);
}

// Length of the header's text and where it begins, from the first bytes of the file.
struct HeaderExtent {
  std::uint64_t offset;
  std::uint64_t length;
};

HeaderExtent read_extent(const ByteSource& file) {
  if (file.size() == 0)
    fail(ErrorKind::Data, "'{}' is empty: a .npy file was expected", file.path());
  std::array<std::uint8_t, 12> begin{};
  const std::uint64_t present = std::min<std::uint64_t>(file.size(), begin.size());
  file.read(0, std::span(begin).first(present));
  const std::string_view text(reinterpret_cast<const char*>(begin.data()), present);
  if (!text.starts_with("\x93NUMPY")) fail_magic(file, text);

  const int version = begin[6];
  if (present >= kMagicBytes && (version < 1 || version > 3)) {
    fail(ErrorKind::Data, "'{}' has .npy format version {}.{}; versions 1 to 3 are read",
         file.path(), version, begin[7]);
  }
  HeaderExtent extent{.offset = version == 1 ? 10u : 12u, .length = 0};
  if (present >= extent.offset) {
    for (std::uint64_t i = extent.offset; i-- > kMagicBytes;) {
      extent.length = extent.length << 8 | begin[i];
    }
  }
  if (present < extent.offset || extent.length > file.size() - extent.offset) {
    fail(ErrorKind::Data,
         "'{}' is truncated: its .npy header of {} bytes is not complete in a file of {} bytes",
         file.path(), extent.offset + extent.length, file.size());
  }
  if (extent.offset + extent.length > kMaxNpyHeaderBytes) {
    fail(ErrorKind::Data, "'{}' has a .npy header of {} bytes; at most {} are read", file.path(),
         extent.offset + extent.length, kMaxNpyHeaderBytes);
  }
  return extent;
}

}  // namespace

NpyHeader read_npy_header(const ByteSource& source) {
  const HeaderExtent extent = read_extent(source);
  std::vector<std::uint8_t> text(extent.length);
  source.read(extent.offset, text);
  NpyHeader header;
  header.data_offset = extent.offset + extent.length;
  HeaderParser(source, {reinterpret_cast<const char*>(text.data()), text.size()}).parse(header);
  return header;
}

std::string format_shape(const std::vector<std::uint64_t>& shape) {
  if (shape.size() == 1) return fmt::format("({},)", shape[0]);
  return fmt::format("({})", fmt::join(shape, ", "));
}

}  // namespace acgan
