#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace acgan {

// What is wanted of an archive.
struct ArchiveRequest {
  // By a file's name without its folders.
  std::function<bool(std::string_view name)> is_wanted;
  std::uint64_t most_bytes_a_file = 0;
  std::uint64_t most_bytes = 0;  // of the whole archive, expanded
};

// Files of a tar archive by their name without folders.
using ArchiveFiles = std::map<std::string, std::vector<std::uint8_t>, std::less<>>;

// Reads the wanted files of a tar archive, gzipped or not, in one pass and in memory: nothing is
// written anywhere. Throws Error{Data} where the archive is damaged or larger than the request
// says, where a wanted name stands twice or is a link, and where a name leads out of the archive
// ("../x", "/x"): whoever made such an archive did not mean it as data.
ArchiveFiles read_archive(const std::string& path, const ArchiveRequest& request);

}  // namespace acgan
