// checkpoint_for_python write PATH: a checkpoint that check_safetensors.py reads.
// checkpoint_for_python read PATH: checks one that check_safetensors.py wrote; exit code 1 if
// wrong.

#include <cstdint>
#include <cstring>
#include <exception>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

#include "run/checkpoint.h"

namespace {

using acgan::Checkpoint;

// start, start + 1, ...
template <typename Value>
std::vector<Value> counting(std::size_t count, Value start) {
  std::vector<Value> values(count);
  std::iota(values.begin(), values.end(), start);
  return values;
}

void write(const std::string& path) {
  Checkpoint checkpoint;
  const std::vector<std::uint16_t> ones(3, 0x3F80);    // 1 in BF16
  const std::vector<std::uint16_t> halves(5, 0x3800);  // 0.5 in F16
  using enum Checkpoint::Type;
  checkpoint.set("bytes", U8, {7}, counting<std::uint8_t>(7, 250).data());
  checkpoint.set("brains", BF16, {3}, ones.data());
  checkpoint.set("halves", F16, {5, 1}, halves.data());
  checkpoint.set("generator.dense1.weight", F32, {3, 5}, counting(15, -7.0f).data());
  checkpoint.set("doubles", F64, {2, 1, 2}, counting(4, 0.25).data());
  checkpoint.set("labels", I32, {3}, counting<std::int32_t>(3, -1).data());
  checkpoint.set("counts", I64, {}, counting<std::int64_t>(1, std::int64_t{1} << 40).data());
  checkpoint.set("empty", F32, {0, 4}, nullptr);
  checkpoint.set_text("config", "data:\n  path: \"caf\xC3\xA9\"\n");
  checkpoint.save(path);
}

bool is_right(const Checkpoint& checkpoint) {
  const Checkpoint::Array& weight = checkpoint.at("weight");
  const std::vector<float> expected = counting(6, 1.0f);
  return weight.type == Checkpoint::Type::F32 && weight.shape == std::vector<std::int64_t>{2, 3} &&
         weight.bytes.size() == expected.size() * sizeof(float) &&
         std::memcmp(weight.bytes.data(), expected.data(), weight.bytes.size()) == 0 &&
         checkpoint.at("mask").type == Checkpoint::Type::U8 &&
         checkpoint.text("made_by") == "python";
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (arguments.size() == 2 && arguments[0] == "write") {
      write(arguments[1]);
      return 0;
    }
    if (arguments.size() == 2 && arguments[0] == "read") {
      return is_right(Checkpoint::load(arguments[1])) ? 0 : 1;
    }
    std::cerr << "usage: checkpoint_for_python write|read PATH\n";
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
  }
  return 2;
}
