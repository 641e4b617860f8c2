#include <stdlib.h>  // setenv

#include <catch2/catch.hpp>
#include <span>

#include "base/child_process.h"
#include "base/error.h"
#include "support/temporary_folder.h"

namespace acgan {

TEST_CASE("a filter gets what it is given and gives back what it wrote, however much") {
  const std::string much(3 << 20, 'x');
  CHECK(run_filter({"cat"}, much, "") == much);
  CHECK(run_filter({"tr", "a", "b"}, "banana", "") == "bbnbnb");
  const UnnamedFile x = UnnamedFile::in_memory("x"), y = UnnamedFile::in_memory("y");
  CHECK(run_filter({"cat", "/dev/fd/4", "-", "/dev/fd/3", "/dev/fd/3"}, "-", "", {&x, &y}) ==
        "y-xx");
}

TEST_CASE("a file without a name is read and written by another program and leaves nothing") {
  const test::TemporaryFolder folder;
  ::setenv("TMPDIR", folder.path().c_str(), 1);
  UnnamedFile in = UnnamedFile::on_disk();
  const UnnamedFile out = UnnamedFile::on_disk();
  CHECK(folder.count() == 0);
  const std::string much(1 << 20, 'x');
  in.append(std::as_bytes(std::span(much)));
  in.append(std::as_bytes(std::span("end", 3)));
  run_filter({"sh", "-c", "cat /dev/fd/3 > /dev/fd/4"}, "", "", {&in, &out});
  CHECK(out.size() == much.size() + 3);
  CHECK(out.text() == much + "end");
  std::byte beyond[4];
  CHECK_THROWS_WITH(out.read(much.size(), beyond), Catch::Contains("it ends too early"));
  ::setenv("TMPDIR", (folder / "missing").c_str(), 1);
  CHECK_THROWS_WITH(UnnamedFile::on_disk(), Catch::Contains("cannot make a file in ") &&
                                                Catch::Contains("missing (TMPDIR names"));
  ::unsetenv("TMPDIR");
}

TEST_CASE("a filter that is missing or fails is one sentence") {
  CHECK_THROWS_WITH(
      run_filter({"no-such-program-here"}, "", "install it"),
      Catch::Contains("cannot run no-such-program-here") && Catch::EndsWith("; install it"));
  CHECK_THROWS_WITH(run_filter({"sh", "-c", "echo one >&2; echo two >&2; exit 3"}, "", ""),
                    Catch::Equals("sh failed: two"));
  CHECK_THROWS_WITH(run_filter({"sh", "-c", "exit 3"}, "", ""),
                    Catch::Equals("sh failed: exit code 3"));
  CHECK_THROWS_WITH(run_filter({"sh", "-c", "kill -9 $$"}, "", ""),
                    Catch::Equals("sh failed: ended by signal 9 (Killed)"));
  CHECK_THROWS_WITH(run_filter({"sh", "-c", "printf 'last\\033 words' >&2; kill -9 $$"}, "", ""),
                    Catch::Equals("sh failed: ended by signal 9 (Killed): last  words"));
}

}  // namespace acgan
