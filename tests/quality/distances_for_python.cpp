// Features of two sets of drawings and the distances between them, in a file that
// check_distances.py compares with numpy and scipy.
// usage: distances_for_python FILE.safetensors
#include <cstdio>
#include <exception>
#include <string>

#include "backend/open_backend.h"
#include "base/format.h"
#include "quality/feature_net.h"
#include "quality/frechet_distance.h"
#include "quality/kernel_distance.h"
#include "quality/precision_recall.h"

namespace acgan::test {
namespace {

FeatureSet features(FeatureNet& net, const char* class_name, std::int64_t count) {
  DataConfig config;
  config.image_size = 16;
  config.classes = {class_name, "cup"};
  config.doodles_per_class = count;
  return net.extract(load_dataset(config, 1).images, {});
}

void write(const std::string& path) {
  const auto backend = open_backend("cpu", 1);
  FeatureNet net(*backend, {.image_size = 16, .channels = 1, .classes = 2});  // random weights do
  const FeatureSet a = features(net, "fish", 150), b = features(net, "house", 40);
  Checkpoint file;
  file.set("a", Checkpoint::Type::F32, {a.count(), a.width}, a.values.data());
  file.set("b", Checkpoint::Type::F32, {b.count(), b.width}, b.values.data());
  const PrecisionRecall overlap = precision_recall(a.values, b.values, a.width);
  const double distances[] = {
      frechet_distance(moments_of(a.values, a.width), moments_of(b.values, b.width)),
      unbiased_kernel_distance(a.values, b.values, a.width), overlap.precision, overlap.recall};
  file.set("distances", Checkpoint::Type::F64, {4}, distances);
  file.save(path);
}

}  // namespace
}  // namespace acgan::test

int main(int argc, char** argv) {
  try {
    if (argc != 2) return 2;
    acgan::test::write(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
