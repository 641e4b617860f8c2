#include "bench/text_table.h"

#include <algorithm>

#include "base/check.h"
#include "base/format.h"

namespace acgan {

TextTable::TextTable(std::vector<std::string> heading, std::size_t left) : left_(left) {
  rows_.push_back(std::move(heading));
}

void TextTable::add(std::vector<std::string> cells) {
  ACGAN_CHECK(cells.size() == rows_.front().size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const char* const gap = i == 0 ? "" : "  ";
      line += i < left_ ? fmt::format("{}{:<{}}", gap, row[i], widths[i])
                        : fmt::format("{}{:>{}}", gap, row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace acgan
