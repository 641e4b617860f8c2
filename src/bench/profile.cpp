#include "bench/profile.h"

#include <algorithm>
#include <map>

#include "base/format.h"
#include "bench/text_table.h"

namespace acgan {
namespace {

constexpr double kSmallestShare = 0.0005;

struct Cost {
  double seconds = 0, flops = 0, bytes = 0;  // of a step
};

// A line of the table: a name of three parts and its cost in every lane.
struct Line {
  std::vector<std::string> name;
  std::vector<Cost> lanes;

  double most_seconds() const {
    double most = 0;
    for (const Cost& cost : lanes) most = std::max(most, cost.seconds);
    return most;
  }
};

struct Kind {
  const char* start;
  const char* kind;
};

constexpr Kind kKinds[] = {
    {"conv2d", "convolution"},
    {"dense", "dense layers"},
    {"bias", "bias gradients"},
    {"batch_norm", "batch norm"},
    {"activation", "activations"},
    {"sigmoid", "activations"},
    {"bce", "losses"},
    {"softmax", "losses"},
    {"gather", "data"},
    {"upload", "data"},
    {"concat", "random and input"},
    {"random", "random and input"},
    {"advance", "random and input"},
    {"adam", "optimizers"},
    {"flag", "optimizers"},
    {"finish", "optimizers"},
    {"spectral", "spectral norm"},
    {"weights_updated", "optimizers"},
};

std::string kind_of(const std::string& operation) {
  for (const Kind& kind : kKinds) {
    if (operation.starts_with(kind.start)) return kind.kind;
  }
  return "other";
}

// Sums what has the same name in all lanes; the dearest first.
template <typename NameOf>
std::vector<Line> lines_of(const std::vector<LaneProfile>& lanes, const NameOf& name_of_line) {
  std::map<std::vector<std::string>, Line> by_name;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const auto steps = static_cast<double>(std::max<std::int64_t>(1, lanes[i].steps));
    for (const OperationTotals& operation : lanes[i].operations) {
      const std::vector<std::string> name = name_of_line(operation);
      Line& line = by_name[name];
      line.name = name;
      line.lanes.resize(lanes.size());
      line.lanes[i].seconds += operation.seconds / steps;
      line.lanes[i].flops += operation.flops / steps;
      line.lanes[i].bytes += operation.bytes / steps;
    }
  }
  std::vector<Line> lines;
  for (auto& [name, line] : by_name) lines.push_back(std::move(line));
  std::ranges::stable_sort(
      lines, [](const Line& a, const Line& b) { return a.most_seconds() > b.most_seconds(); });
  return lines;
}

Line sum_of(const std::vector<Line>& lines, const std::string& name, std::size_t lanes,
            std::size_t name_parts) {
  Line sum{.name = {name}, .lanes = std::vector<Cost>(lanes)};
  sum.name.resize(name_parts);
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < lanes; ++i) {
      sum.lanes[i].seconds += line.lanes[i].seconds;
      sum.lanes[i].flops += line.lanes[i].flops;
      sum.lanes[i].bytes += line.lanes[i].bytes;
    }
  }
  return sum;
}

// Of no share worth a line in any lane.
bool is_small(const Line& line, const Line& sum) {
  for (std::size_t i = 0; i < line.lanes.size(); ++i) {
    if (line.lanes[i].seconds >= kSmallestShare * sum.lanes[i].seconds) return false;
  }
  return true;
}

// Per second, in units of 10^9; a dash where nothing was counted.
std::string rate(double amount, double seconds) {
  return amount <= 0 || seconds <= 0 ? "-" : fmt::format("{:.1f}", amount / seconds * 1e-9);
}

enum class Small { Fold, Keep };

std::string table_of(std::vector<std::string> heading, const std::vector<Line>& lines,
                     const std::vector<LaneProfile>& lanes, Small treatment) {
  const std::size_t name_parts = heading.size();
  for (const LaneProfile& lane : lanes) {
    heading.insert(heading.end(), {lane.label + " ms", "share", "GFLOP/s", "GB/s"});
    if (&lane != &lanes.front()) heading.emplace_back("faster");
  }
  const Line sum = sum_of(lines, "step", lanes.size(), name_parts);
  TextTable table(heading, name_parts);
  const auto add = [&](const Line& line) {
    std::vector<std::string> cells = line.name;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      const Cost& cost = line.lanes[i];
      const double all = sum.lanes[i].seconds;
      cells.push_back(fmt::format("{:.3f}", 1e3 * cost.seconds));
      cells.push_back(fmt::format("{:.1f}%", all > 0 ? 100 * cost.seconds / all : 0.0));
      cells.push_back(rate(cost.flops, cost.seconds));
      cells.push_back(rate(cost.bytes, cost.seconds));
      if (i == 0) continue;
      const bool has_both = line.lanes[0].seconds > 0 && cost.seconds > 0;
      cells.push_back(has_both ? fmt::format("{:.2f}x", line.lanes[0].seconds / cost.seconds)
                               : "-");
    }
    table.add(std::move(cells));
  };
  std::vector<Line> small;
  for (const Line& line : lines) {
    if (treatment == Small::Fold && is_small(line, sum)) {
      small.push_back(line);
    } else {
      add(line);
    }
  }
  if (!small.empty()) {
    const std::string name = fmt::format("{} smaller ones", small.size());
    add(sum_of(small, name, lanes.size(), name_parts));
  }
  add(sum);
  return table.text();
}

// By phase of training, in the order of a step; what is done now and then with its share.
std::vector<Line> phase_lines(const std::vector<LaneProfile>& lanes) {
  constexpr const char* kPhases[kStepPhases] = {"data and latents", "D", "G and Q", "optimizers"};
  std::vector<Line> lines;
  const auto add = [&](const char* name, const auto& cost_of) {
    lines.push_back({.name = {name}, .lanes = {}});
    for (const LaneProfile& lane : lanes) lines.back().lanes.push_back(cost_of(lane));
  };
  for (int i = 0; i < kStepPhases; ++i) {
    add(kPhases[i], [i](const LaneProfile& lane) {
      const PhaseTotals& phase = lane.phases[static_cast<std::size_t>(i)];
      const auto steps = static_cast<double>(std::max<std::int64_t>(1, lane.steps));
      return Cost{phase.seconds / steps, phase.flops / steps, phase.bytes / steps};
    });
  }
  add("between operations", [](const LaneProfile& lane) {
    double sum = 0;
    for (const PhaseTotals& phase : lane.phases) sum += phase.seconds;
    const auto steps = static_cast<double>(std::max<std::int64_t>(1, lane.steps));
    return Cost{std::max(0.0, lane.step_seconds - sum / steps)};
  });
  add("sampling",
      [](const LaneProfile& lane) { return Cost{lane.sampling_share * lane.step_seconds}; });
  add("logging", [](const LaneProfile& lane) { return Cost{lane.logging_seconds}; });
  return lines;
}

}  // namespace

std::string profile_table(const std::vector<LaneProfile>& lanes) {
  const auto by_operation = lines_of(lanes, [](const OperationTotals& operation) {
    return std::vector<std::string>{operation.layer.empty() ? "-" : operation.layer,
                                    operation.operation, operation.shape.text()};
  });
  const auto by_kind = lines_of(lanes, [](const OperationTotals& operation) {
    return std::vector<std::string>{kind_of(operation.operation)};
  });
  return table_of({"layer", "operation", "shape"}, by_operation, lanes, Small::Fold) + "\n" +
         table_of({"kind"}, by_kind, lanes, Small::Fold) + "\n" +
         table_of({"phase"}, phase_lines(lanes), lanes, Small::Keep);
}

}  // namespace acgan
