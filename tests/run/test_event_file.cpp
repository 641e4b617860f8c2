#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "base/error.h"
#include "run/crc32c.h"
#include "run/event_file.h"
#include "support/temporary_folder.h"

namespace acgan::test {

namespace {

std::uint32_t crc_of(std::string_view text) { return crc32c(std::as_bytes(std::span(text))); }

// The contents of a file's records; checks each frame's length, and the whole for leftovers.
std::vector<std::string> records_in(const std::string& path) {
  const std::string file = read_text(path);
  std::vector<std::string> records;
  std::size_t at = 0;
  while (at < file.size()) {
    std::uint64_t length = 0;
    REQUIRE(file.size() - at >= 16);
    std::memcpy(&length, &file[at], sizeof length);
    REQUIRE(length <= file.size() - at - 16);
    records.push_back(file.substr(at + 12, length));
    CHECK(framed_record(records.back()) == file.substr(at, length + 16));
    at += length + 16;
  }
  return records;
}

}  // namespace

TEST_CASE("the check sum is Castagnoli's") {  // RFC 3720, B.4, and the usual check value
  CHECK(crc_of(std::string(32, '\0')) == 0x8A9136AAu);
  CHECK(crc_of(std::string(32, '\xFF')) == 0x62A8AB43u);
  CHECK(crc_of("123456789") == 0xE3069283u);
  CHECK(crc_of("") == 0u);
  std::string rising;
  for (int i = 0; i < 32; ++i) rising += static_cast<char>(i);
  CHECK(crc_of(rising) == 0x46DD794Eu);
}

TEST_CASE("a record is framed by its length and two masked check sums") {
  const std::string record = framed_record("123456789");
  REQUIRE(record.size() == 8 + 4 + 9 + 4);
  CHECK(record.substr(0, 8) == std::string("\x09\0\0\0\0\0\0\0", 8));
  CHECK(record.substr(12, 9) == "123456789");
  const auto number_at = [&](std::size_t at) {
    std::uint32_t number = 0;
    std::memcpy(&number, &record[at], sizeof number);
    return number;
  };
  // 0xE3069283 turned right by 15 bits is 0x2507C60D.
  CHECK(number_at(21) == 0x2507C60Du + 0xA282EAD8u);
  const std::uint32_t of_length = crc_of(record.substr(0, 8));
  CHECK(number_at(8) == (of_length >> 15 | of_length << 17) + 0xA282EAD8u);
}

TEST_CASE("events are messages as event.proto has them") {
  const TemporaryFolder folder;
  EventFile file(folder / "events", 0);
  const std::vector<EventScalar> scalars{{"loss/d", 1.5f}, {"x", -2}};
  file.add_scalars(300, scalars);
  file.add_image(7, "fakes",
                 {.height = 2, .width = 3, .channels = 1, .pixels = std::vector<std::uint8_t>(6)});
  CHECK(std::filesystem::path(file.path()).filename() ==
        "events.out.tfevents.0000000000.acgan-train");
  const auto records = records_in(file.path());
  REQUIRE(records.size() == 4);
  // Each begins with field 1, a double: the time of day, in this century.
  for (const std::string& record : records) {
    REQUIRE(record.size() > 9);
    CHECK(record[0] == 0x09);
    double seconds = 0;
    std::memcpy(&seconds, &record[1], sizeof seconds);
    CHECK(seconds > 1.7e9);
    CHECK(seconds < 4.2e9);
  }
  CHECK(records[0].substr(9) == std::string("\x10\0\x1A\x0D", 4) + "brain.Event:2");
  CHECK(records[1].substr(9) == std::string("\x10\x01\x3A\x02\x08\x01"));
  const std::string d = std::string("\x0A\x06") + "loss/d" + std::string("\x15\0\0\xC0\x3F", 5);
  const std::string x = std::string("\x0A\x01x\x15\0\0\0\xC0", 8);
  CHECK(records[2].substr(9) ==
        "\x10\xAC\x02\x2A\x19" + std::string("\x0A\x0D") + d + std::string("\x0A\x08") + x);
  CHECK_THAT(records[3].substr(9), Catch::StartsWith("\x10\x07\x2A") && Catch::Contains("fakes") &&
                                       Catch::Contains("\x08\x02\x10\x03\x18\x01\x22") &&
                                       Catch::Contains("\x89PNG"));
}

TEST_CASE("a resumed run's events take the place of those after its step") {
  const TemporaryFolder folder;
  const std::string events = folder / "events";
  const auto names = [&] {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(events)) {
      found.push_back(entry.path().filename().string());
    }
    std::sort(found.begin(), found.end());
    return found;
  };
  const auto name = [](const char* step) {
    return fmt::format("events.out.tfevents.{}.acgan-train", step);
  };
  EventFile(events, 0);
  EventFile(events, 10);
  write_text(events + "/events.out.tfevents.0000000020.other", "not ours");
  EventFile(events, 20);
  const std::vector<std::string> three{name("0000000000"), name("0000000010"), name("0000000020"),
                                       "events.out.tfevents.0000000020.other"};
  CHECK(names() == three);
  EventFile(events, 10);
  CHECK(names() == std::vector<std::string>{three[0], three[1], three[3]});
  const auto records = records_in(events + "/" + three[1]);
  REQUIRE(records.size() == 2);
  CHECK(records[1].substr(9) == std::string("\x10\x0B\x3A\x02\x08\x01"));  // from step 11 on
}

TEST_CASE("a folder for events that cannot be made is an error that says what to do") {
  const TemporaryFolder folder;
  write_text(folder / "file", "");
  CHECK_THROWS_WITH(EventFile(folder / "file/events", 0),
                    Catch::Contains("file/events") && Catch::Contains("output.tensorboard: false"));
}

}  // namespace acgan::test
