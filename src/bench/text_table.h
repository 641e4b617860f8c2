#pragma once

#include <string>
#include <vector>

namespace acgan {

// Columns of text as wide as their widest cell: the first `left` columns are flush left, the rest
// flush right, two blanks between them.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> heading, std::size_t left = 1);

  void add(std::vector<std::string> cells);
  std::string text() const;

 private:
  std::size_t left_;
  std::vector<std::vector<std::string>> rows_;  // the heading first
};

}  // namespace acgan
