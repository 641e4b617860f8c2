#pragma once

#include <string>
#include <vector>

namespace acgan {

// Throws Error{Output} where files of these names could not be written into `folder`, which may be
// missing; tries it, and leaves nothing. `option` is what chooses the folder.
void check_output_folder(const std::string& folder, const std::vector<std::string>& names,
                         const std::string& option);

// Makes it where it is missing and clears it of what an interrupted write left. Throws
// Error{Output}.
void make_output_folder(const std::string& folder, const std::string& option);

}  // namespace acgan
