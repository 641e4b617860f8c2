#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "cuda/stream.h"

namespace acgan::cuda {

constexpr std::size_t mebibytes(std::size_t bytes) {  // rounded up
  return (bytes >> 20) + (bytes % (std::size_t{1} << 20) != 0 ? 1 : 0);
}

struct DeviceProperties {
  std::string name;
  int arch = 0;  // compute capability, major * 10 + minor
  int multiprocessors = 0;
  std::size_t memory_bytes = 0;
  std::size_t shared_bytes_per_block = 0;  // largest dynamic shared memory
};

// A recorded piece of a stream's work that can be started again as a whole.
class Graph {
 public:
  virtual ~Graph() = default;
};

// A point in a stream's work, with the time at which the device got there.
class Event {
 public:
  virtual ~Event() = default;
  virtual void record() = 0;  // here; forgets where it was before
  virtual bool reached() const = 0;
  virtual void wait() const = 0;
  // Milliseconds on the device from `earlier` to here; both must have been reached.
  virtual double milliseconds_since(const Event& earlier) const = 0;
};

// One GPU with one stream: memory, copies, events, graph capture. Everything is asynchronous and in
// order unless noted. Throws Error{Device}. device_cuda.cpp is the real one, with the CUDA runtime;
// emulation/emulated_device.cpp runs on the CPU.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceProperties& properties() const = 0;
  virtual Stream stream() const = 0;

  // Zeroed. Never inside a captured piece of work.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  virtual std::size_t free_bytes() const = 0;

  // The host's bytes may change as soon as this returns.
  virtual void upload(void* destination, const void* host, std::size_t bytes) = 0;
  virtual void download(void* host, const void* source, std::size_t bytes) = 0;  // waits
  // Starts a copy; `host` (from allocate_pinned) holds the bytes once a later event is reached.
  virtual void download_later(void* host, const void* source, std::size_t bytes) = 0;
  virtual void* allocate_pinned(std::size_t bytes) = 0;
  virtual void release_pinned(void* memory) noexcept = 0;
  virtual void copy(void* destination, const void* source, std::size_t bytes) = 0;
  virtual void zero(void* destination, std::size_t bytes) = 0;
  virtual void synchronize() = 0;

  virtual std::unique_ptr<Event> make_event() = 0;

  // Between the two nothing runs; launch() starts all of it, as often as wanted.
  virtual void begin_capture() = 0;
  virtual std::unique_ptr<Graph> end_capture() = 0;
  virtual void launch(const Graph& graph) = 0;
};

// Opens device number `ordinal`; on the emulated device the number is the architecture (75, 80, 90;
// 0: 80). Throws Error{Device} saying why it cannot be had.
std::unique_ptr<Device> open_device(int ordinal);

}  // namespace acgan::cuda
