#include "run/read_curves.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/check.h"

namespace acgan {
namespace {

using Json = nlohmann::json;

// Numbers of a row, in the order of the file's header.
enum Column { kElapsed = 2, kBatchMs = 3, kSpeed = 4, kLosses = 5, kScales = 8, kColumns = 14 };

std::optional<std::array<double, kColumns>> numbers_of(std::string_view row) {
  std::array<double, kColumns> numbers{};
  const char* at = row.data();
  const char* const end = row.data() + row.size();
  for (std::size_t i = 0; i < kColumns; ++i) {
    if (i > 0 && (at == end || *at++ != ',')) return std::nullopt;
    const auto [rest, error] = std::from_chars(at, end, numbers[i]);
    if (error != std::errc{}) return std::nullopt;
    at = rest;
  }
  return at == end ? std::optional(numbers) : std::nullopt;
}

// Sums over a stretch of steps.
struct Stretch {
  std::array<double, 3> loss{}, finite{}, loss_scale{};
  double images = 0, seconds = 0, elapsed = 0;

  void add(const Stretch& next) {
    for (std::size_t i = 0; i < 3; ++i) {
      loss[i] += next.loss[i];
      finite[i] += next.finite[i];
    }
    images += next.images;
    seconds += next.seconds;
    elapsed = next.elapsed;
    loss_scale = next.loss_scale;
  }
  TimingPoint point() const {
    TimingPoint point{.minutes = elapsed / 60, .loss = {}, .loss_scale = loss_scale};
    for (std::size_t i = 0; i < 3; ++i) {
      point.loss[i] =
          finite[i] > 0 ? loss[i] / finite[i] : std::numeric_limits<double>::quiet_NaN();
    }
    point.images_per_second = seconds > 0 ? images / seconds : 0;
    return point;
  }
};

Stretch stretch_of(const std::array<double, kColumns>& row) {
  Stretch stretch;
  for (std::size_t i = 0; i < 3; ++i) {
    const double loss = row[kLosses + i];
    if (std::isfinite(loss)) {
      stretch.loss[i] = loss;
      stretch.finite[i] = 1;
    }
    stretch.loss_scale[i] = row[kScales + i];
  }
  stretch.seconds = row[kBatchMs] / 1000;
  stretch.images = row[kSpeed] * stretch.seconds;
  stretch.elapsed = row[kElapsed];
  return stretch;
}

// Stretches of a series of unknown length: as soon as there are too many, two become one.
class Stretches {
 public:
  explicit Stretches(std::size_t most) : most_(most) { ACGAN_CHECK(most >= 2 && most % 2 == 0); }
  void add(const Stretch& step) {
    if (steps_of_last_ == 0 || steps_of_last_ == length_) {
      if (all_.size() == most_) halve();
      all_.emplace_back();
      steps_of_last_ = 0;
    }
    all_.back().add(step);
    ++steps_of_last_;
  }
  std::vector<TimingPoint> points() const {
    std::vector<TimingPoint> points;
    for (const Stretch& stretch : all_) points.push_back(stretch.point());
    return points;
  }

 private:
  void halve() {
    for (std::size_t i = 0; i < most_ / 2; ++i) {
      Stretch both = all_[2 * i];
      both.add(all_[2 * i + 1]);
      all_[i] = both;
    }
    all_.resize(most_ / 2);
    length_ *= 2;
  }

  std::size_t most_, length_ = 1, steps_of_last_ = 0;
  std::vector<Stretch> all_;
};

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

std::map<std::string, double> numbers_in(const Json& object) {
  std::map<std::string, double> numbers;
  if (!object.is_object()) return numbers;
  for (const auto& [name, value] : object.items()) {
    if (value.is_number()) numbers[name] = value.get<double>();
  }
  return numbers;
}

std::string net_of(const Json& facts) {
  std::string net;
  for (const char* key : {"id", "scale"}) {
    if (!facts.is_object() || !facts.contains(key)) continue;
    net += facts[key].dump(-1, ' ', false, Json::error_handler_t::replace) + " ";
  }
  return net;
}

}  // namespace

std::vector<TimingPoint> read_timing(const std::string& path, std::size_t most) {
  Stretches stretches(most);
  if (!is_file(path)) return {};
  std::ifstream file(path, std::ios::binary);
  char line[1024];  // longer lines are no rows
  while (file) {
    file.getline(line, sizeof line);
    const auto count = static_cast<std::size_t>(file.gcount());
    if (file.fail() && !file.eof() && count == sizeof line - 1) {
      file.clear();
      file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    } else if (!file.fail() && !file.eof()) {  // an end of line: whole
      if (const auto row = numbers_of({line, count - 1})) stretches.add(stretch_of(*row));
    }
  }
  return stretches.points();
}

std::vector<QualityPoint> read_quality(const std::string& path) {
  constexpr std::uintmax_t kLargest = std::uintmax_t{64} << 20;
  std::vector<QualityPoint> points;
  std::error_code error;
  if (!is_file(path) || std::filesystem::file_size(path, error) > kLargest) return points;
  std::ifstream file(path, std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    const Json object = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    std::map<std::string, double> numbers = numbers_in(object);
    if (!numbers.contains("elapsed_s") || !object.contains("step")) continue;
    if (!object["step"].is_number_integer()) continue;
    QualityPoint point{.step = object["step"].get<std::int64_t>(),
                       .minutes = numbers["elapsed_s"] / 60,
                       .net = object.contains("feature_net") ? net_of(object["feature_net"]) : "",
                       .figures = numbers,
                       .floor_figures = {}};
    if (object.contains("floor")) point.floor_figures = numbers_in(object["floor"]);
    points.push_back(point);
  }
  std::ranges::stable_sort(points, {}, &QualityPoint::step);
  return points;
}

}  // namespace acgan
