#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include <cstdlib>
#include <iostream>
#include <string>

#include "support/shared_dir.h"

// Exit code 77 tells ctest "skipped": tests that need the shared folder, which is not there.
int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) != "[shared]" || acgan::test::has_shared_dir()) continue;
    std::cerr << "the shared folder " << acgan::test::shared_dir() << " is missing\n";
    const char* ci = std::getenv("CI");
    return ci != nullptr && std::string(ci) == "true" ? 1 : 77;
  }
  return Catch::Session().run(argc, argv);
}
