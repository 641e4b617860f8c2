#include "data/class_selection.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace acgan {
namespace {

constexpr std::size_t kListedNames = 40;  // more make the message unreadable

// Levenshtein distance: how many letters to insert, delete or replace.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::string listed(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kListedNames);
  std::string list = fmt::format("{}", fmt::join(names.begin(), names.begin() + shown, ", "));
  if (names.size() > shown) list += fmt::format(" and {} more", names.size() - shown);
  return list;
}

std::size_t index_of(const std::string& name, const std::vector<std::string>& found,
                     std::string_view where) {
  const auto match = std::find(found.begin(), found.end(), name);
  if (match != found.end()) return static_cast<std::size_t>(match - found.begin());
  const auto nearest =
      std::min_element(found.begin(), found.end(), [&](const auto& a, const auto& b) {
        return edit_distance(name, a) < edit_distance(name, b);
      });
  fail(ErrorKind::Data, "data.classes names '{}', which is not {}; did you mean '{}' (found: {})?",
       name, where, *nearest, listed(found));
}

}  // namespace

std::vector<std::size_t> select_classes(const DataConfig& config,
                                        const std::vector<std::string>& found,
                                        std::string_view where) {
  ACGAN_CHECK(!found.empty());
  std::vector<std::size_t> selection(found.size());
  std::iota(selection.begin(), selection.end(), std::size_t{0});
  if (config.classes.empty()) return selection;

  selection.clear();
  for (const std::string& name : config.classes) {
    const std::size_t index = index_of(name, found, where);
    if (std::find(selection.begin(), selection.end(), index) != selection.end()) {
      fail(ErrorKind::Usage, "data.classes names '{}' twice: name each class once", name);
    }
    selection.push_back(index);
  }
  return selection;
}

std::int64_t limited(std::int64_t available, std::int64_t limit_per_class) {
  return limit_per_class > 0 ? std::min(available, limit_per_class) : available;
}

}  // namespace acgan
