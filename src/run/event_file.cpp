#include "run/event_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/error.h"
#include "run/crc32c.h"

namespace acgan {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "numbers in the file are little-endian");

constexpr std::string_view kNameStart = "events.out.tfevents.";
constexpr std::string_view kNameEnd = ".acgan-train";

// Readers take files in the order of their names.
std::string name_of(std::int64_t last_step) {
  return fmt::format("{}{:010d}{}", kNameStart, last_step, kNameEnd);
}

std::optional<std::int64_t> step_of(std::string_view name) {
  if (name.size() <= kNameStart.size() + kNameEnd.size() || !name.starts_with(kNameStart) ||
      !name.ends_with(kNameEnd)) {
    return std::nullopt;
  }
  name.remove_prefix(kNameStart.size());
  name.remove_suffix(kNameEnd.size());
  std::int64_t step = 0;
  const char* const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data(), end, step);
  return error == std::errc{} && rest == end ? std::optional(step) : std::nullopt;
}

[[noreturn]] void fail_to_write(const std::string& path, const std::string& why) {
  fail(ErrorKind::Output,
       "cannot write {}: {}; free some space, choose another output folder with --outdir, or set "
       "output.tensorboard: false",
       path, why);
}

// Makes the folder, removes files that begin at `last_step` or later, and returns the new one's
// path.
std::string prepare(const std::string& folder, std::int64_t last_step) {
  std::error_code error;
  fs::create_directory(folder, error);
  std::vector<fs::path> later;
  for (fs::directory_iterator entries(folder, error); !error && entries != fs::directory_iterator();
       entries.increment(error)) {
    const auto step = step_of(entries->path().filename().string());
    if (step && *step >= last_step) later.push_back(entries->path());
  }
  for (const fs::path& file : later) {
    if (!error) fs::remove(file, error);
  }
  if (error) fail_to_write(folder, error.message());
  return (fs::path(folder) / name_of(last_step)).string();
}

template <typename Number>
std::string bytes_of(Number number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

// A message in the wire format of protocol buffers, field by field.
class Message {
 public:
  Message& integer(int field, std::uint64_t value) {
    key(field, 0);
    varint(value);
    return *this;
  }
  Message& number(int field, double value) {
    key(field, 1);
    text_ += bytes_of(value);
    return *this;
  }
  Message& number(int field, float value) {
    key(field, 5);
    text_ += bytes_of(value);
    return *this;
  }
  Message& bytes(int field, std::string_view value) {
    key(field, 2);
    varint(value.size());
    text_ += value;
    return *this;
  }
  Message& message(int field, const Message& value) { return bytes(field, value.text_); }
  const std::string& text() const { return text_; }

 private:
  void key(int field, unsigned wire_type) { varint(static_cast<unsigned>(field) << 3 | wire_type); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(0x80 | (value & 0x7F));
    text_ += static_cast<char>(value);
  }

  std::string text_;
};

// event.proto: wall_time 1, step 2, file_version 3, summary 5, session_log 7.
Message event_at(std::int64_t step) {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  Message event;
  event.number(1, now.count()).integer(2, static_cast<std::uint64_t>(step));
  return event;
}

// A check that is itself checked would cancel out, so the format turns and shifts it.
std::uint32_t masked_crc(std::string_view bytes) {
  return std::rotr(crc32c(std::as_bytes(std::span(bytes))), 15) + 0xA282EAD8u;
}

}  // namespace

std::string framed_record(std::string_view content) {
  const std::string length = bytes_of(static_cast<std::uint64_t>(content.size()));
  std::string record = length + bytes_of(masked_crc(length));
  record += content;
  return record + bytes_of(masked_crc(content));
}

EventFile::EventFile(const std::string& folder, std::int64_t last_step)
    : path_(prepare(folder, last_step)),
      file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
                   0666)) {
  if (file_.number() < 0) fail_to_write(path_, std::generic_category().message(errno));
  Message version = event_at(last_step);
  add_record(version.bytes(3, "brain.Event:2").text());
  Message start;
  start.integer(1, 1);  // SessionLog.status: START: later steps of older files are void
  Message session = event_at(last_step + 1);
  add_record(session.message(7, start).text());
}

void EventFile::add_scalars(std::int64_t step, std::span<const EventScalar> scalars) {
  Message summary;  // summary.proto: value 1, of it: tag 1, simple_value 2, image 4
  for (const EventScalar& scalar : scalars) {
    summary.message(1, Message().bytes(1, scalar.tag).number(2, scalar.value));
  }
  add_record(event_at(step).message(5, summary).text());
}

void EventFile::add_image(std::int64_t step, const std::string& tag, const Picture& picture) {
  const std::vector<std::byte> png = encode_png(picture, path_);
  Message image;  // height 1, width 2, colorspace 3 (1: grey, 3: RGB), encoded_image_string 4
  image.integer(1, static_cast<std::uint64_t>(picture.height))
      .integer(2, static_cast<std::uint64_t>(picture.width))
      .integer(3, static_cast<std::uint64_t>(picture.channels))
      .bytes(4, {reinterpret_cast<const char*>(png.data()), png.size()});
  const Message value = Message().bytes(1, tag).message(4, image);
  add_record(event_at(step).message(5, Message().message(1, value)).text());
}

void EventFile::add_record(std::string_view event) {
  const std::string record = framed_record(event);
  const off_t end = ::lseek(file_.number(), 0, SEEK_END);
  if (const int error = file_.write_all(std::as_bytes(std::span(record))); error != 0) {
    // A torn record would hide those after it.
    [[maybe_unused]] const int ignored = end >= 0 ? ::ftruncate(file_.number(), end) : 0;
    fail_to_write(path_, std::generic_category().message(error));
  }
}

}  // namespace acgan
