#include "data/class_selection.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "base/error.h"
#include "config/nearest_name.h"

namespace acgan {
namespace {

constexpr std::size_t kListedNames = 40;  // more make the message unreadable

std::string listed(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kListedNames);
  std::string list = fmt::format("{}", fmt::join(std::span(names).first(shown), ", "));
  if (names.size() > shown) list += fmt::format(" and {} more", names.size() - shown);
  return list;
}

std::size_t index_of(const std::string& name, const std::vector<std::string>& found,
                     std::string_view where) {
  const auto match = std::find(found.begin(), found.end(), name);
  if (match != found.end()) return static_cast<std::size_t>(match - found.begin());
  fail(ErrorKind::Data, "data.classes names '{}', which is not {}; did you mean '{}' (found: {})?",
       name, where, nearest_name(name, found), listed(found));
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
