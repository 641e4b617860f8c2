#pragma once

#include <string>
#include <string_view>

namespace acgan {

// The beginning of a text from within a data file, fit for a message: what does not print is a
// question mark.
std::string shown_text(std::string_view text);

}  // namespace acgan
