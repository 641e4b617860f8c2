#include "data/archive.h"

#include <catch2/catch.hpp>

#include "data/data_files.h"
#include "data/expanded_file.h"
#include "data/tar_files.h"

namespace acgan {
namespace {

using Catch::Contains;
using test::Bytes;
using test::error_of;
using test::gzipped;
using test::tar;
using test::TarMember;
using test::TemporaryFolder;

ArchiveFiles read(const std::string& path) {
  return read_archive(path, {.is_wanted = [](std::string_view name) { return name.front() == 'a'; },
                             .most_bytes_a_file = 1000000,
                             .most_bytes = 4000000});
}

std::string error_with(const Bytes& bytes) {
  TemporaryFolder folder;
  folder.write("x.tar.gz", bytes);
  return error_of(ErrorKind::Data, [&] { read(folder.path() + "/x.tar.gz"); });
}

}  // namespace

TEST_CASE("an archive's wanted files are read, gzipped or not") {
  const Bytes large = test::pattern(300000, 1);
  const Bytes packed = tar({{"folder/", {}, '5'},
                            {"folder/a1", large},
                            {"folder/b", test::pattern(700, 2)},
                            {"./a2", {}},
                            {"folder/deeper/a3", {7}}});
  TemporaryFolder folder;
  for (const Bytes& bytes : {packed, gzipped(packed)}) {
    folder.write("x", bytes);
    CHECK(read(folder.path() + "/x") == ArchiveFiles{{"a1", large}, {"a2", {}}, {"a3", {7}}});
  }
}

TEST_CASE("archives that lead out of themselves, link or repeat are refused") {
  for (const std::string name : {"../a", "x/../../a", "/a", "x/.."}) {
    CHECK_THAT(error_with(tar({{name, {1}}})), Contains("leads out of it ('" + name + "')"));
  }
  for (const char type : {'1', '2', '3', '6'}) {
    CHECK_THAT(error_with(tar({{"x/a", {}, type, "/etc/passwd"}})),
               Contains("'a' in archive") && Contains("link or device"));
  }
  CHECK(error_with(tar({{"x/a", {1}}, {"y/a", {2}}})).find("holds 'a' twice") != std::string::npos);
  TemporaryFolder folder;  // what is not wanted may be a link
  folder.write("x.tar", tar({{"b", {}, '2', "/etc/passwd"}, {"a", {1}}}));
  CHECK(read(folder.path() + "/x.tar") == ArchiveFiles{{"a", {1}}});
}

TEST_CASE("archives are read up to their limits only") {
  CHECK_THAT(error_with(tar({{"a", Bytes(1000001, 1)}})), Contains("'a'") && Contains("1000000"));
  CHECK_THAT(error_with(tar({{"a", {}, '0', "", std::uint64_t{1} << 32}})),
             Contains("claims to hold a file of 4294967296 bytes"));
  const Bytes bomb = gzipped(tar({{"b", Bytes(3900000, 0)}, {"c", Bytes(3900000, 0)}}));
  CHECK(bomb.size() < 20000);
  CHECK_THAT(error_with(bomb), Contains("expands to more than the 4000000 bytes"));
  TemporaryFolder folder;
  folder.write("x", gzipped(tar(std::vector<TarMember>(10001, TarMember{"b", {}}))));
  CHECK_THAT(error_of(ErrorKind::Data,
                      [&] {
                        read_archive(folder.path() + "/x", {.is_wanted = [](auto) { return false; },
                                                            .most_bytes_a_file = 1,
                                                            .most_bytes = 1 << 26});
                      }),
             Contains("holds more than 10000 files"));
}

TEST_CASE("damaged archives are errors, wherever the damage is") {
  CHECK_THAT(error_with({}), Contains("x.tar.gz"));
  CHECK_THAT(error_with(test::pattern(2000, 1)), Contains("cannot be read as a tar archive"));
  const Bytes plain = tar({{"a", test::pattern(5000, 1)}});
  CHECK_THAT(error_with(Bytes(plain.begin(), plain.begin() + 3000)), Contains("x.tar.gz"));
  const Bytes whole = gzipped(plain);
  for (std::size_t i = 12; i < whole.size(); i += 101) {  // behind the gzip header
    Bytes changed = whole;
    changed[i] = static_cast<std::uint8_t>(changed[i] ^ 0x10);
    CHECK_THAT(error_with(changed), Contains("x.tar.gz"));
    CHECK_THAT(error_with(Bytes(whole.begin(), whole.begin() + static_cast<long>(i))),
               Contains("truncated"));
  }
  Bytes changed = whole;
  changed[changed.size() - 6] ^= 1;  // the check sum at the end, behind all that is wanted
  CHECK_THAT(error_with(changed), Contains("damaged") && Contains("incorrect data check"));
  changed = whole;
  changed.back() ^= 1;
  CHECK_THAT(error_with(changed), Contains("incorrect length check"));
  changed = whole;
  changed.push_back('x');
  CHECK_THAT(error_with(changed), Contains("x.tar.gz"));
}

TEST_CASE("a file of several gzip members is one") {
  TemporaryFolder folder;
  const Bytes first = test::pattern(100000, 1), second = test::pattern(5, 2);
  folder.write("x", test::concatenated({gzipped(first), gzipped({}), gzipped(second)}));
  CHECK(ExpandedFile(folder.path() + "/x").read_all(1 << 20) ==
        test::concatenated({first, second}));
  CHECK_THAT(
      error_of(ErrorKind::Data, [&] { ExpandedFile(folder.path() + "/x").read_all(100004); }),
      Contains("more than the 100004 bytes"));
}

}  // namespace acgan
