#pragma once

#include <string>

#include "base/cache_folder.h"
#include "quality/feature_net.h"

namespace acgan {

// How a feature net came to be, for logs.
struct FeatureNetOrigin {
  bool from_cache = false;
  double seconds = 0;   // that training took
  std::string file;     // where it is kept; empty where it is not
  std::string problem;  // why the cache could not be used; empty where it could
};

// Takes the net for `train` from its file in `folder` (named after the net's version and the data's
// fingerprint; checked), or trains it and keeps it there. A cache that cannot be read or written,
// or a broken file in it, is no error: `problem` says so. Empty folder: no cache.
FeatureNetOrigin load_or_train(FeatureNet& net, const Dataset& train, const std::string& folder);

}  // namespace acgan
