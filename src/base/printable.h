#pragma once

#include <string>

namespace acgan {

// `text` with blanks for control characters: names from files must not steer a terminal.
inline std::string printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return text;
}

}  // namespace acgan
