#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "run/checkpoint.h"

namespace acgan::test {

// One case of the golden traces (README of that folder): float64 losses, gradients, parameters,
// statistics and images of three training steps, with the sizes and constants they were computed
// for.
class GoldenCase {
 public:
  GoldenCase(const std::filesystem::path& folder, const std::string& name);

  // Names of all cases in a folder: CASE of every CASE.inputs.safetensors, sorted.
  static std::vector<std::string> find(const std::filesystem::path& folder);

  const std::string& name() const { return name_; }
  double constant(const std::string& key) const;
  std::int64_t size(const std::string& key) const;

  // Arrays by their name in the files; doubles whatever the stored type.
  std::vector<double> expected(const std::string& array) const;
  std::vector<float> input(const std::string& array) const;
  std::vector<std::uint8_t> pixels() const;  // x_u8 [steps,N,S,S,C]
  std::vector<std::int32_t> labels(const std::string& array) const;

  // Golden name of one of our parameters or statistics: generator.dense1.weight -> g_fc1.w,
  // discriminator.batch_norm2.running_mean -> d_bn2.mean.
  static std::string golden_name(const std::string& ours);
  // Whether a batch norm cancels this bias (golden name).
  static bool is_null_bias(const std::string& golden);

 private:
  std::string name_;
  Checkpoint inputs_, gradients_, parameters_;
};

}  // namespace acgan::test
