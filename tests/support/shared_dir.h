#pragma once

#include <filesystem>

namespace acgan::test {

// Folder with real data and golden traces: ACGAN_SHARED_DIR, else the one set at configure time.
std::filesystem::path shared_dir();
bool has_shared_dir();

}  // namespace acgan::test
