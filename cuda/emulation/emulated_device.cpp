#include <chrono>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "cuda/device.h"
#include "cuda/emulation/emulated_stream.h"
#include "cuda/emulation/machine.h"

namespace acgan::cuda {
namespace {

using Clock = std::chrono::steady_clock;

struct EmulatedGraph final : Graph {
  std::vector<std::function<void()>> work;
};

struct EmulatedEvent final : Event {
  const emulation::EmulatedStream& stream;
  Clock::time_point time{};
  mutable bool waited = false;

  explicit EmulatedEvent(const emulation::EmulatedStream& work) : stream(work) {}
  void record() override {
    ACGAN_CHECK(!stream.capturing);
    time = Clock::now();
    waited = false;
  }
  // As on a device that is always behind: only who waits finds it reached.
  bool reached() const override { return waited; }
  void wait() const override { waited = true; }
  double milliseconds_since(const Event& earlier) const override {
    const auto& other = dynamic_cast<const EmulatedEvent&>(earlier);
    return std::chrono::duration<double, std::milli>(time - other.time).count();
  }
};

// Settings of the machine that a test may want to choose for a whole program.
void apply_environment() {
  if (const char* seed = std::getenv("ACGAN_EMULATION_SEED")) {
    emulation::settings.seed = std::strtoull(seed, nullptr, 10);
  }
  if (const char* schedule = std::getenv("ACGAN_EMULATION_SCHEDULE")) {
    const std::string name = schedule;
    using emulation::Schedule;
    emulation::settings.schedule = name == "in_order"  ? Schedule::InOrder
                                   : name == "reverse" ? Schedule::Reverse
                                   : name == "uniform" ? Schedule::Uniform
                                                       : Schedule::Priority;
  }
}

class EmulatedDevice final : public Device {
 public:
  explicit EmulatedDevice(int arch) {
    emulation::settings.arch = arch * 10;
    apply_environment();
    properties_ = {.name = fmt::format("emulated sm_{}", arch),
                   .arch = arch,
                   .multiprocessors = 2,
                   .memory_bytes = std::size_t{1} << 33,
                   .shared_bytes_per_block = emulation::shared_memory_limit(arch * 10)};
  }

  const DeviceProperties& properties() const override { return properties_; }
  Stream stream() const override { return reinterpret_cast<Stream>(&stream_); }

  void* allocate(std::size_t bytes) override {
    ACGAN_CHECK(!stream_.capturing);
    void* memory = nullptr;  // an exact heap block: an address sanitizer sees where it ends
    if (posix_memalign(&memory, kAlignment, std::max<std::size_t>(bytes, 1)) != 0) {
      fail(ErrorKind::Device, "out of memory: {} MiB more are needed", mebibytes(bytes));
    }
    std::memset(memory, 0, bytes);
    return memory;
  }
  void release(void* memory) noexcept override { std::free(memory); }
  std::size_t free_bytes() const override { return properties_.memory_bytes; }

  void upload(void* destination, const void* host, std::size_t bytes) override {
    ACGAN_CHECK(!stream_.capturing);  // the bytes would be frozen into the graph
    std::memcpy(destination, host, bytes);
  }
  void download(void* host, const void* source, std::size_t bytes) override {
    ACGAN_CHECK(!stream_.capturing);
    std::memcpy(host, source, bytes);
  }
  void download_later(void* host, const void* source, std::size_t bytes) override {
    emulation::enqueue(stream(), [=] { std::memcpy(host, source, bytes); });
  }
  void* allocate_pinned(std::size_t bytes) override { return allocate(bytes); }
  void release_pinned(void* memory) noexcept override { release(memory); }
  void copy(void* destination, const void* source, std::size_t bytes) override {
    emulation::enqueue(stream(), [=] { std::memmove(destination, source, bytes); });
  }
  void zero(void* destination, std::size_t bytes) override {
    emulation::enqueue(stream(), [=] { std::memset(destination, 0, bytes); });
  }
  void synchronize() override { ACGAN_CHECK(!stream_.capturing); }

  std::unique_ptr<Event> make_event() override { return std::make_unique<EmulatedEvent>(stream_); }

  void begin_capture() override {
    ACGAN_CHECK(!stream_.capturing);
    stream_.capturing = true;
  }
  std::unique_ptr<Graph> end_capture() override {
    ACGAN_CHECK(stream_.capturing);
    stream_.capturing = false;
    auto graph = std::make_unique<EmulatedGraph>();
    graph->work.swap(stream_.captured);
    return graph;
  }
  void launch(const Graph& graph) override {
    ACGAN_CHECK(!stream_.capturing);
    for (const auto& work : dynamic_cast<const EmulatedGraph&>(graph).work) work();
  }

 private:
  static constexpr std::size_t kAlignment = 256;  // as cudaMalloc's

  DeviceProperties properties_;
  mutable emulation::EmulatedStream stream_;
};

}  // namespace

std::unique_ptr<Device> open_device(int ordinal) {
  return std::make_unique<EmulatedDevice>(ordinal == 0 ? 80 : ordinal);
}

}  // namespace acgan::cuda
