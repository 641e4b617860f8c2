#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace acgan {

// What lies directly in a folder: names without the path, sorted by bytes. Names that begin with a
// dot are left out (editors and file managers leave such things behind).
struct FolderListing {
  std::vector<std::string> files;    // regular files, links to such included
  std::vector<std::string> folders;  // folders, links to such included
  std::vector<std::string> others;   // links that lead nowhere, pipes, sockets, devices

  // All of them. A loader chooses among these by name, and opening what is no file says so: data
  // that cannot be read must not be passed over in silence.
  std::vector<std::string> names() const;
};

// Throws Error{Data} where `path` is not a readable folder; `expected` ends the sentence with what
// should be there ("quickdraw needs a folder of .npy files").
FolderListing list_folder(const std::string& path, std::string_view expected);

// Whether `name` ends in `extension` (".npy"), upper or lower case.
bool has_extension(std::string_view name, std::string_view extension);

// `folder` and `name` as one path.
std::string join_path(const std::string& folder, const std::string& name);

}  // namespace acgan
