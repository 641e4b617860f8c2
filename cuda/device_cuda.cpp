#include <cuda_runtime_api.h>

#include <array>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "cuda/device.h"
#include "cuda/launch_failure.h"
#include "cuda/probe.h"

namespace acgan::cuda {
namespace {

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // a later call must not report it again
  fail(ErrorKind::Device, "the GPU failed while {}: {} ({})", what, cudaGetErrorString(error),
       cudaGetErrorName(error));
}

struct CudaGraph final : Graph {
  cudaGraphExec_t executable = nullptr;
  ~CudaGraph() override {
    if (executable != nullptr) cudaGraphExecDestroy(executable);
  }
};

struct CudaEvent final : Event {
  Stream stream;
  cudaEvent_t event = nullptr;

  explicit CudaEvent(Stream work) : stream(work) {
    check(cudaEventCreate(&event), "creating an event");
  }
  ~CudaEvent() override { cudaEventDestroy(event); }
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;

  void record() override { check(cudaEventRecord(event, stream), "recording an event"); }
  bool reached() const override {
    const cudaError_t state = cudaEventQuery(event);
    if (state == cudaErrorNotReady) return false;
    check(state, "asking for an event");
    return true;
  }
  void wait() const override { check(cudaEventSynchronize(event), "computing"); }
  double milliseconds_since(const Event& earlier) const override {
    float milliseconds = 0.0f;
    check(cudaEventElapsedTime(&milliseconds, dynamic_cast<const CudaEvent&>(earlier).event, event),
          "reading a time");
    return milliseconds;
  }
};

// Pinned host memory that uploads pass through, so that the caller's bytes are free at once and the
// device is not waited for. A slot is written again only when the copy out of it is done.
class UploadRing {
 public:
  UploadRing(Stream stream, std::size_t slots, std::size_t slot_bytes)
      : stream_(stream), slot_bytes_(slot_bytes), events_(slots, nullptr) {
    check(cudaMallocHost(&memory_, slots * slot_bytes), "allocating pinned memory");
    for (cudaEvent_t& event : events_) {
      check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "creating an event");
    }
  }
  ~UploadRing() {
    for (cudaEvent_t event : events_) cudaEventDestroy(event);
    cudaFreeHost(memory_);
  }
  UploadRing(const UploadRing&) = delete;
  UploadRing& operator=(const UploadRing&) = delete;

  void upload(void* destination, const void* host, std::size_t bytes) {
    for (std::size_t begin = 0; begin < bytes; begin += slot_bytes_) {
      upload_piece(static_cast<char*>(destination) + begin, static_cast<const char*>(host) + begin,
                   std::min(slot_bytes_, bytes - begin));
    }
  }

 private:
  void upload_piece(void* destination, const void* host, std::size_t bytes) {
    const std::size_t slot = next_++ % events_.size();
    check(cudaEventSynchronize(events_[slot]), "uploading");
    char* staged = static_cast<char*>(memory_) + slot * slot_bytes_;
    std::memcpy(staged, host, bytes);
    check(cudaMemcpyAsync(destination, staged, bytes, cudaMemcpyHostToDevice, stream_),
          "uploading");
    check(cudaEventRecord(events_[slot], stream_), "uploading");
  }

  Stream stream_;
  std::size_t slot_bytes_;
  void* memory_ = nullptr;
  std::vector<cudaEvent_t> events_;
  std::size_t next_ = 0;
};

// Indices of a batch and the like; and image data: a step's batch, or the whole set in pieces.
constexpr std::size_t kSmallSlots = 16, kSmallBytes = std::size_t{64} << 10;
constexpr std::size_t kLargeSlots = 2, kLargeBytes = std::size_t{16} << 20;

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int ordinal) {
    check(cudaSetDevice(ordinal), "opening it");
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
    cudaDeviceProp found{};
    check(cudaGetDeviceProperties(&found, ordinal), "reading its properties");
    properties_ = {.name = found.name,
                   .arch = found.major * 10 + found.minor,
                   .multiprocessors = found.multiProcessorCount,
                   .memory_bytes = found.totalGlobalMem,
                   .shared_bytes_per_block = found.sharedMemPerBlockOptin};
    small_uploads_ = std::make_unique<UploadRing>(stream_, kSmallSlots, kSmallBytes);
    large_uploads_ = std::make_unique<UploadRing>(stream_, kLargeSlots, kLargeBytes);
  }
  ~CudaDevice() override {
    cudaStreamSynchronize(stream_);
    small_uploads_.reset();
    large_uploads_.reset();
    cudaStreamDestroy(stream_);
  }

  const DeviceProperties& properties() const override { return properties_; }
  Stream stream() const override { return stream_; }

  void* allocate(std::size_t bytes) override {
    void* memory = nullptr;
    const cudaError_t error = cudaMalloc(&memory, std::max<std::size_t>(bytes, 1));
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      fail(ErrorKind::Device,
           "{} is out of memory: {} MiB more are needed, {} of {} MiB are free; use a smaller "
           "batch or --precision mixed",
           properties_.name, mebibytes(bytes), free_bytes() >> 20, properties_.memory_bytes >> 20);
    }
    check(error, "allocating memory");
    check(cudaMemsetAsync(memory, 0, bytes, stream_), "clearing memory");
    return memory;
  }
  void release(void* memory) noexcept override { cudaFree(memory); }
  std::size_t free_bytes() const override {
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "asking for its free memory");
    return free;
  }

  void upload(void* destination, const void* host, std::size_t bytes) override {
    (bytes <= kSmallBytes ? *small_uploads_ : *large_uploads_).upload(destination, host, bytes);
  }
  void download(void* host, const void* source, std::size_t bytes) override {
    check(cudaMemcpyAsync(host, source, bytes, cudaMemcpyDeviceToHost, stream_), "downloading");
    synchronize();
  }
  void download_later(void* host, const void* source, std::size_t bytes) override {
    check(cudaMemcpyAsync(host, source, bytes, cudaMemcpyDeviceToHost, stream_), "downloading");
  }
  void* allocate_pinned(std::size_t bytes) override {
    void* memory = nullptr;
    check(cudaMallocHost(&memory, bytes), "allocating pinned memory");
    return memory;
  }
  void release_pinned(void* memory) noexcept override { cudaFreeHost(memory); }
  void copy(void* destination, const void* source, std::size_t bytes) override {
    check(cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDeviceToDevice, stream_),
          "copying");
  }
  void zero(void* destination, std::size_t bytes) override {
    check(cudaMemsetAsync(destination, 0, bytes, stream_), "clearing memory");
  }
  void synchronize() override { check(cudaStreamSynchronize(stream_), "computing"); }

  std::unique_ptr<Event> make_event() override { return std::make_unique<CudaEvent>(stream_); }

  void begin_capture() override {
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "capturing a graph");
  }
  std::unique_ptr<Graph> end_capture() override {
    cudaGraph_t captured = nullptr;
    check(cudaStreamEndCapture(stream_, &captured), "capturing a graph");
    auto graph = std::make_unique<CudaGraph>();
    const cudaError_t error = cudaGraphInstantiate(&graph->executable, captured, 0);
    cudaGraphDestroy(captured);
    check(error, "instantiating a graph");
    return graph;
  }
  void launch(const Graph& graph) override {
    check(cudaGraphLaunch(dynamic_cast<const CudaGraph&>(graph).executable, stream_),
          "launching a graph");
  }

 private:
  DeviceProperties properties_;
  cudaStream_t stream_ = nullptr;
  std::unique_ptr<UploadRing> small_uploads_, large_uploads_;
};

}  // namespace

void launch_failed(const char* name, const char* text) {
  fail(ErrorKind::Device, "the GPU refused a kernel: {} ({})", text, name);
}

std::unique_ptr<Device> open_device(int ordinal) {
  const Probe probe = probe_devices();
  if (probe.devices.empty())
    fail(ErrorKind::Device, "device 'cuda:{}' cannot be used: {}", ordinal, probe.why_none);
  if (ordinal >= static_cast<int>(probe.devices.size())) {
    fail(ErrorKind::Device, "device 'cuda:{}' cannot be used: there are {} GPUs, numbered from 0",
         ordinal, probe.devices.size());
  }
  return std::make_unique<CudaDevice>(ordinal);
}

}  // namespace acgan::cuda
