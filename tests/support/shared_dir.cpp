#include "support/shared_dir.h"

#include <cstdlib>

namespace acgan::test {

std::filesystem::path shared_dir() {
  const char* from_environment = std::getenv("ACGAN_SHARED_DIR");
  return from_environment != nullptr && *from_environment != '\0' ? from_environment
                                                                  : ACGAN_DEFAULT_SHARED_DIR;
}

bool has_shared_dir() { return std::filesystem::is_directory(shared_dir()); }

}  // namespace acgan::test
