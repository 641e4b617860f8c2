#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace acgan {

// One self-contained HTML file: opens from disk, needs no network and runs no script, follows the
// reader's light or dark setting. Texts are escaped.
class Page {
 public:
  explicit Page(const std::string& title);

  void heading(const std::string& text);
  void paragraph(const std::string& text);
  void list(const std::vector<std::string>& lines);
  // Cells of the first `left` columns are flush left, numbers flush right.
  void table(const std::vector<std::string>& heading,
             const std::vector<std::vector<std::string>>& rows, std::size_t left);
  // SVG for both settings.
  void figure(std::string_view light_svg, std::string_view dark_svg, const std::string& caption);
  // PNG or WebP.
  void picture(std::string_view content, const std::string& caption);
  void code(const std::string& text);
  // Opens at a click.
  void details(const std::string& summary, const std::string& text);

  // Bytes that are no UTF-8 in what was given become U+FFFD.
  std::string html() const;

 private:
  std::string title_, body_;
};

}  // namespace acgan
