#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace acgan {

// A text file that grows by one flushed line a record and outlives crashes and resumes.
class LineLog {
 public:
  // The step that a line belongs to; none where the line is no whole record.
  using StepOf = std::function<std::optional<std::int64_t>(std::string_view line)>;

  // Creates the file, or appends to it after cutting off (atomically) the records after
  // `last_step` and what a crash left torn. `header` is the first line, "" for none. Throws
  // Error{Output} when the file cannot be read or written, begins with another header, or is a
  // symbolic link: what that points at is not ours to write.
  LineLog(const std::string& path, const std::string& header, std::int64_t last_step,
          const StepOf& step_of);

  // Throws Error{Output} when the line did not reach the file, which then is as it was.
  void add(const std::string& line);

 private:
  [[noreturn]] void fail_to_write(int error) const;

  std::string path_;
  std::optional<Descriptor> file_;
};

}  // namespace acgan
