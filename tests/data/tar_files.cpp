#include "data/tar_files.h"

#include <zlib.h>

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "base/format.h"

namespace acgan::test {
namespace {

constexpr std::size_t kBlock = 512;

void put(const std::string& text, std::size_t offset, Bytes& header) {
  std::copy(text.begin(), text.end(), header.begin() + static_cast<std::ptrdiff_t>(offset));
}

Bytes header_of(const TarMember& member) {
  const std::uint64_t size = member.claimed_bytes > 0 ? member.claimed_bytes : member.bytes.size();
  Bytes header(kBlock, 0);
  put(member.name, 0, header);
  put("0000644", 100, header);
  put("0000000", 108, header);
  put("0000000", 116, header);
  put(fmt::format("{:011o}", size), 124, header);
  put("00000000000", 136, header);
  put("        ", 148, header);
  header[156] = static_cast<std::uint8_t>(member.type);
  put(member.link, 157, header);
  put(std::string("ustar\0", 6) + "00", 257, header);
  const unsigned sum = std::accumulate(header.begin(), header.end(), 0u);
  put(fmt::format("{:06o}", sum) + std::string("\0 ", 2), 148, header);
  return header;
}

}  // namespace

Bytes tar(const std::vector<TarMember>& members) {
  Bytes bytes;
  for (const TarMember& member : members) {
    const Bytes header = header_of(member);
    bytes.insert(bytes.end(), header.begin(), header.end());
    bytes.insert(bytes.end(), member.bytes.begin(), member.bytes.end());
    bytes.resize((bytes.size() + kBlock - 1) / kBlock * kBlock, 0);
  }
  bytes.resize(bytes.size() + 2 * kBlock, 0);
  return bytes;
}

Bytes gzipped(const Bytes& bytes) {
  constexpr int kGzip = 16 + MAX_WBITS;
  z_stream stream = {};
  ACGAN_CHECK(deflateInit2(&stream, 6, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  Bytes packed(deflateBound(&stream, static_cast<uLong>(bytes.size())));
  stream.next_in = const_cast<Bytef*>(bytes.data());  // zlib does not write to it
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  const int status = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  ACGAN_CHECK(status == Z_STREAM_END);
  return packed;
}

}  // namespace acgan::test
