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
// is [N,F], axes of length 1 aside. The net is one file: data that it refers to in others is not
// read. It is no classifier of the data, so nothing is predicted. ONNX Runtime computes, in a
// Python (the program "python3", or what ACGAN_PYTHON names) that is started for each extraction
// and does not outlive this process.
class OnnxFeatures final : public FeatureSource {
 public:
  // Images of these sizes are to come. Throws Error{Data} where there is no such file.
  OnnxFeatures(OnnxNet net, std::int64_t height, std::int64_t width, std::int64_t channels);
  // Throws Error{Data} where the file is no net of that kind or gives Inf or NaN, or where it
  // or its width is not that of the extraction before, Error{Output} where Python or ONNX Runtime
  // is missing or fails.
  FeatureSet extract(const ImageBatches& batches) override;
  FeatureNetFacts facts() const override { return facts_; }

 private:
  void run(const UnnamedFile& images, std::int64_t count, const UnnamedFile& features);
  void take(const std::string& answer, std::int64_t count, std::uint64_t feature_bytes);
  void take_facts(const std::string& id, std::int64_t width);

  OnnxNet net_;
  std::int64_t height_, width_, channels_;
  FeatureNetFacts facts_;
};

}  // namespace acgan
