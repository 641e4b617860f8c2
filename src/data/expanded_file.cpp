#include "data/expanded_file.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"

namespace acgan {
namespace {

constexpr std::size_t kChunk = std::size_t{64} << 10;

}  // namespace

struct ExpandedFile::Gzip {
  explicit Gzip(const std::string& path) {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (inflateInit2(&stream, kGzipOnly) != Z_OK) {
      fail(ErrorKind::Data, "'{}' cannot be expanded: no memory", path);
    }
  }
  ~Gzip() { inflateEnd(&stream); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  z_stream stream = {};
  std::array<std::uint8_t, kChunk> input = {};
  bool is_at_end = false;  // of the last member
};

ExpandedFile::ExpandedFile(std::string path) : file_(std::move(path)) {
  std::array<std::uint8_t, 2> magic = {};
  if (file_.size() < magic.size()) return;
  file_.read(0, magic);
  if (magic[0] == 0x1F && magic[1] == 0x8B) gzip_ = std::make_unique<Gzip>(file_.path());
}

ExpandedFile::~ExpandedFile() = default;

std::size_t ExpandedFile::read(std::span<std::uint8_t> bytes) {
  return gzip_ == nullptr ? read_plain(bytes) : inflate_into(bytes);
}

std::size_t ExpandedFile::read_plain(std::span<std::uint8_t> bytes) {
  const std::uint64_t left = file_.size() - offset_;
  const std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(left, bytes.size()));
  file_.read(offset_, bytes.first(count));
  offset_ += count;
  return count;
}

// gzip allows several compressed members one behind the other.
bool ExpandedFile::begin_next_member() {
  z_stream& stream = gzip_->stream;
  return (stream.avail_in > 0 || offset_ < file_.size()) && inflateReset(&stream) == Z_OK;
}

std::size_t ExpandedFile::inflate_into(std::span<std::uint8_t> bytes) {
  z_stream& stream = gzip_->stream;
  std::size_t filled = 0;
  while (filled < bytes.size() && !gzip_->is_at_end) {
    if (stream.avail_in == 0) {
      stream.avail_in = static_cast<uInt>(read_plain(gzip_->input));
      stream.next_in = gzip_->input.data();
    }
    const std::size_t room = std::min<std::size_t>(bytes.size() - filled, kChunk);
    stream.next_out = bytes.data() + filled;
    stream.avail_out = static_cast<uInt>(room);
    const uInt given = stream.avail_in;
    const int status = inflate(&stream, Z_NO_FLUSH);
    filled += room - stream.avail_out;
    if (status == Z_STREAM_END) {
      gzip_->is_at_end = !begin_next_member();
    } else if (status == Z_BUF_ERROR && given == 0) {
      fail(ErrorKind::Data, "'{}' is truncated: its gzip data end too early; get the file again",
           path());
    } else if (status != Z_OK) {
      fail(ErrorKind::Data, "'{}' is damaged: its gzip data are not sound ({}); get the file again",
           path(), stream.msg != nullptr ? stream.msg : "no reason given");
    }
  }
  return filled;
}

std::vector<std::uint8_t> ExpandedFile::read_all(std::uint64_t limit) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t filled = 0;;) {
    const std::size_t room = std::max(kChunk, filled / 2);  // claims of a header are not trusted
    bytes.resize(filled + room);
    const std::size_t got = read(std::span(bytes).subspan(filled));
    filled += got;
    if (filled > limit) {
      fail(ErrorKind::Data, "'{}' holds more than the {} bytes that are read from such a file",
           path(), limit);
    }
    if (got < room) {
      bytes.resize(filled);
      return bytes;
    }
  }
}

}  // namespace acgan
