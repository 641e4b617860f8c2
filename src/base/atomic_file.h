#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace acgan {

// Writes a whole file so that it appears complete or not at all: temporary name beside it, fsync,
// rename, fsync of the folder. Throws Error{Output} naming the file and the system's reason; the
// temporary file is removed then.
void write_file_atomically(const std::string& path, std::span<const std::byte> content);
void write_file_atomically(const std::string& path, std::string_view content);
// The same from pieces that follow each other, so that large arrays need no copy.
void write_file_atomically(const std::string& path,
                           std::span<const std::span<const std::byte>> pieces);

// Throws Error{Output} where `path`, which somebody chose, is a device, a pipe or a folder: a file
// that is renamed to it would take its place, for everybody.
void check_is_replaceable(const std::string& path);

// Removes temporary files that an interrupted write_file_atomically left in `folder`. Those of
// another process that is still alive stay: it may be about to rename them.
void remove_stale_temporary_files(const std::string& folder);

}  // namespace acgan
