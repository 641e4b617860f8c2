#pragma once

#include "backend/host/host_backend.h"

namespace acgan {

// Counts what is allocated instead of allocating it: how much memory something takes is found by
// making it here. Its memory cannot be touched, so no operation can run.
class PlanningBackend final : public HostBackend {
 public:
  std::string name() const override { return "planning"; }

  void* allocate(std::size_t bytes) override {
    bytes_ += bytes;
    return this;  // an address that nobody reads
  }
  void release(void*) noexcept override {}
  void upload(const Tensor&, const void*) override {}
  std::size_t allocated_bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

}  // namespace acgan
