#include "data/shown_text.h"

#include <algorithm>
#include <cstddef>

namespace acgan {

std::string shown_text(std::string_view text) {
  constexpr std::size_t kShown = 60;
  std::string shown(text.substr(0, kShown));
  std::replace_if(
      shown.begin(), shown.end(), [](char letter) { return letter < ' ' || letter > '~'; }, '?');
  return shown;
}

}  // namespace acgan
