#include <cstring>

#include "base/error.h"
#include "fuzz/fuzz_target.h"
#include "run/safetensors_header.h"

namespace acgan::fuzz {
namespace {

void append(Bytes& bytes, const void* data, std::size_t count) {
  const auto* const first = static_cast<const std::uint8_t*>(data);
  bytes.insert(bytes.end(), first, first + count);
}

Bytes file_of(const std::string& header, std::size_t data_bytes) {
  Bytes bytes;
  const std::uint64_t length = header.size();
  append(bytes, &length, sizeof length);
  append(bytes, header.data(), header.size());
  bytes.insert(bytes.end(), data_bytes, 7);
  return bytes;
}

}  // namespace

void read_input(const Input& input) {
  Checkpoint checkpoint;
  try {
    checkpoint = Checkpoint::load(input.path);
  } catch (const Error& error) {
    ACGAN_CHECK(error.kind() == ErrorKind::Output);  // the kind that bad checkpoints deserve
    return;
  }
  for (const auto& [name, array] : checkpoint.arrays()) {
    ACGAN_CHECK(byte_count(array.type, array.shape) == array.bytes.size());
  }
  ACGAN_CHECK(checkpoint.byte_size() <= input.bytes.size());
}

std::vector<Bytes> valid_inputs() {
  using Type = Checkpoint::Type;
  SafetensorsHeader header;
  header.texts = {{"format", "x"}, {"classes", "[\"a\", \"b\"]"}};
  header.arrays = {{.name = "i", .type = Type::I64, .shape = {1}, .begin = 0, .end = 8},
                   {.name = "w", .type = Type::F32, .shape = {2, 3}, .begin = 8, .end = 32},
                   {.name = "h", .type = Type::F16, .shape = {}, .begin = 32, .end = 34},
                   {.name = "u", .type = Type::U8, .shape = {0, 4}, .begin = 34, .end = 34}};
  return {file_of(format_header(header), 34), file_of("{}", 0),
          file_of(R"( {"b":{"dtype":"BF16","shape":[2],"data_offsets":[0,4],"more":1}} )", 4)};
}

}  // namespace acgan::fuzz
