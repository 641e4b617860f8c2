#pragma once

#include <array>
#include <string>

#include "base/unnamed_file.h"
#include "quality/feature_source.h"

namespace acgan {

// What pixels are made to before a net sees them: [0,1], [-1,1], [0,1] less the mean of ImageNet
// over its spread, or [0,255].
inline constexpr std::array<const char*, 4> kFeatureScales = {"unit", "symmetric", "imagenet",
                                                              "bytes"};

// A feature net of somebody else's.
struct OnnxNet {
  std::string file;
  std::string scale = kFeatureScales[0];  // one of kFeatureScales
  int threads = 0;                        // 0: as ONNX Runtime chooses
};

// The features that a net in ONNX gives: input float [N,3,H,W] or [N,H,W,3], to whose H and W
// images are resized (bilinear; any size where they are not fixed), grey repeated; its first output
// is [N,F], axes of length 1 aside. It is no classifier of the data, so nothing is predicted. ONNX
// Runtime computes, in a Python (the program "python3", or what ACGAN_PYTHON names) that is started
// for each extraction.
class OnnxFeatures final : public FeatureSource {
 public:
  // Images of these sizes are to come. Throws Error{Data} where there is no such file.
  OnnxFeatures(OnnxNet net, std::int64_t height, std::int64_t width, std::int64_t channels);
  // Throws Error{Data} where the file is no net of that kind or gives Inf or NaN, Error{Output}
  // where Python or ONNX Runtime is missing.
  FeatureSet extract(const ImageBatches& batches) override;
  FeatureNetFacts facts() const override { return facts_; }

 private:
  void run(const UnnamedFile& images, std::int64_t count, const UnnamedFile& features);
  void take(const std::string& answer);

  OnnxNet net_;
  std::int64_t height_, width_, channels_;
  FeatureNetFacts facts_;
};

}  // namespace acgan
