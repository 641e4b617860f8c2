#include "quality/feature_net_cache.h"

#include <chrono>
#include <filesystem>

#include "base/error.h"

namespace acgan {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "format";

std::string format_text(const std::string& fingerprint) {
  return fmt::format("acgan-train feature net {} of data {}", kFeatureNetVersion, fingerprint);
}

void load_checked(FeatureNet& net, const std::string& file, const std::string& fingerprint) {
  const Checkpoint checkpoint = Checkpoint::load(file);
  if (!checkpoint.has_text(kFormat) || checkpoint.text(kFormat) != format_text(fingerprint)) {
    fail(ErrorKind::Output, "{} is no \"{}\"", file, format_text(fingerprint));
  }
  net.load(checkpoint);
}

void keep(const FeatureNet& net, const std::string& file, const std::string& fingerprint) {
  std::error_code error;
  fs::create_directories(fs::path(file).parent_path(), error);
  if (error) {
    fail(ErrorKind::Output, "cannot make the folder {}: {}", fs::path(file).parent_path().string(),
         error.message());
  }
  Checkpoint checkpoint = net.save();
  checkpoint.set_text(kFormat, format_text(fingerprint));
  checkpoint.save(file);
}

}  // namespace

FeatureNetOrigin load_or_train(FeatureNet& net, const Dataset& train, const std::string& folder) {
  FeatureNetOrigin origin;
  const std::string fingerprint = fingerprint_of(train);
  const std::string file = folder.empty()
                               ? ""
                               : (fs::path(folder) / fmt::format("feature_net_{}_{}.safetensors",
                                                                 kFeatureNetVersion, fingerprint))
                                     .string();
  std::error_code ignored;
  if (!file.empty() && fs::exists(file, ignored)) {
    try {
      load_checked(net, file, fingerprint);
      origin.from_cache = true;
      origin.file = file;
      return origin;
    } catch (const Error& error) {
      origin.problem = error.what();
    }
  }
  const auto start = std::chrono::steady_clock::now();
  net.train(train);
  origin.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (file.empty()) return origin;
  try {
    keep(net, file, fingerprint);
    origin.file = file;
  } catch (const Error& error) {
    origin.problem = error.what();
  }
  return origin;
}

}  // namespace acgan
