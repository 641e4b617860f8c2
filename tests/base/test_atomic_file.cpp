#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <span>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "run/expect_error.h"
#include "support/temporary_folder.h"

namespace acgan {
namespace {

namespace fs = std::filesystem;
using test::expect_output_error;
using test::read_text;
using test::TemporaryFolder;
using test::write_text;

// The number of a process that has ended.
pid_t dead_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

// Replaces `path` in a child process that may write `limit` bytes a file. True when that gave
// Error{Output} with the system's reason.
bool fails_at_file_size_limit(const std::string& path, std::size_t bytes, rlim_t limit) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit sizes{limit, limit};
    ::setrlimit(RLIMIT_FSIZE, &sizes);
    try {
      write_file_atomically(path, std::string(bytes, 'n'));
    } catch (const Error& error) {
      const std::string message = error.what();
      const bool is_clear = error.kind() == ErrorKind::Output &&
                            message.find(path) != std::string::npos &&
                            message.find("File too large") != std::string::npos;
      ::_exit(is_clear ? 0 : 1);
    }
    ::_exit(2);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_CASE("a file is written whole, replaced whole, and nothing is left beside it") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.txt";
  write_file_atomically(path, "first, and longer");
  CHECK(read_text(path) == "first, and longer");
  write_file_atomically(path, "second");
  CHECK(read_text(path) == "second");
  write_file_atomically(path, "");
  CHECK(read_text(path).empty());
  CHECK(folder.count() == 1);
}

TEST_CASE("pieces follow each other in the file") {
  const TemporaryFolder folder;
  const std::string a = "ab", b, c(3000001, 'c');
  const std::array<std::span<const std::byte>, 3> pieces = {
      std::as_bytes(std::span(a)), std::as_bytes(std::span(b)), std::as_bytes(std::span(c))};
  write_file_atomically(folder / "pieces", pieces);
  CHECK(read_text(folder / "pieces") == a + b + c);
}

TEST_CASE("a relative name without a folder is written into the current one") {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  write_file_atomically("plain", "x");
  fs::current_path(before);
  CHECK(read_text(folder / "plain") == "x");
}

TEST_CASE("a full disk leaves the old file and no temporary one") {
  const TemporaryFolder folder;
  const std::string path = folder / "checkpoint";
  write_text(path, "old");
  CHECK(fails_at_file_size_limit(path, 100001, 4096));
  CHECK(read_text(path) == "old");
  CHECK(folder.count() == 1);
}

TEST_CASE("a place that cannot be written is an output error with path and reason") {
  const TemporaryFolder folder;
  write_text(folder / "file", "");
  const std::string below_file = folder / "file/x";
  const std::string missing = folder / "missing/x";
  expect_output_error([&] { write_file_atomically(below_file, "x"); },
                      {below_file, "Not a directory"});
  expect_output_error([&] { write_file_atomically(missing, "x"); },
                      {missing, "No such file or directory"});

  fs::create_directories(folder / "taken/inside");
  expect_output_error([&] { write_file_atomically(folder / "taken", "x"); },
                      {folder / "taken", "directory"});
  CHECK(folder.count() == 2);  // the temporary file is gone
}

TEST_CASE("a leftover of a process with our own number is no obstacle") {
  const TemporaryFolder folder;
  write_text(folder / fmt::format(".a.{}.tmp", ::getpid()), "torn");
  write_file_atomically(folder / "a", "whole");
  CHECK(read_text(folder / "a") == "whole");
  CHECK(folder.count() == 1);
}

TEST_CASE("stale temporary files are removed, all others stay") {
  const TemporaryFolder folder;
  const pid_t dead = dead_process();
  write_text(folder / fmt::format(".step_000001.safetensors.{}.tmp", dead), "torn");
  write_text(folder / fmt::format(".x.{}.tmp", ::getpid()), "ours, from an earlier life");
  const std::string alive = fmt::format(".x.{}.tmp", ::getppid());
  const std::string no_dot = fmt::format("x.{}.tmp", dead);
  for (const std::string& name : {alive, no_dot, std::string(".x.12a.tmp"), std::string(".x..tmp"),
                                  std::string(".7.tmp"), std::string(".tmp"), std::string("a")}) {
    write_text(folder / name, "keep");
  }
  remove_stale_temporary_files(folder.path());
  CHECK(folder.count() == 7);
  CHECK(fs::exists(folder / alive));
  CHECK(fs::exists(folder / no_dot));
  remove_stale_temporary_files(folder / "not there");
}

TEST_CASE("a new file's permissions follow the umask") {
  const TemporaryFolder folder;
  const mode_t before = ::umask(027);
  write_file_atomically(folder / "a", "x");
  ::umask(before);
  struct stat status {};
  REQUIRE(::stat((folder / "a").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
}

}  // namespace
TEST_CASE("what is no file is never replaced by one that somebody chose a name for") {
  const test::TemporaryFolder folder;
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  std::filesystem::create_symlink("pipe", folder / "link");
  write_file_atomically(folder / "file", "x");
  CHECK_THROWS_WITH(check_is_replaceable(folder / "pipe"), Catch::Contains("it is a pipe"));
  CHECK_THROWS_WITH(check_is_replaceable(folder / "link"), Catch::Contains("it is a pipe"));
  CHECK_THROWS_WITH(check_is_replaceable(folder.path()), Catch::Contains("it is a folder"));
  CHECK_THROWS_WITH(check_is_replaceable("/dev/null"), Catch::Contains("it is a device"));
  check_is_replaceable(folder / "file");
  check_is_replaceable(folder / "new");
}

}  // namespace acgan
