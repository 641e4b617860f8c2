#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "run/sample_grid.h"

namespace acgan {

// One number under a name, "loss/d".
struct EventScalar {
  std::string tag;
  float value = 0;
};

// A file of TensorBoard events: records in TFRecord framing (length, masked CRC-32C of it, content,
// masked CRC-32C of that), each an `Event` message of tensorflow/core/util/event.proto. A record is
// in the file whole or not at all once a call returns.
class EventFile {
 public:
  // Starts a file for what happens after `last_step` (0: a new run) in `folder`, which is made
  // where it is missing. Files of this folder that began at that step or later go; what other files
  // hold of later steps the reader drops, since the new one says that it starts over there. Throws
  // Error{Output}.
  EventFile(const std::string& folder, std::int64_t last_step);

  // Throw Error{Output} when the event did not reach the file, which then is as it was.
  void add_scalars(std::int64_t step, std::span<const EventScalar> scalars);
  void add_image(std::int64_t step, const std::string& tag, const Picture& picture);

  const std::string& path() const { return path_; }

 private:
  void add_record(std::string_view event);

  std::string path_;
  Descriptor file_;
};

// The frame around a record's content (the file format's own; for tests).
std::string framed_record(std::string_view content);

}  // namespace acgan
