#pragma once

#include "backend/backend.h"

namespace acgan {

// Captured work of a backend that runs operations as they are asked for: the function itself.
class KeptWork final : public CapturedWork {
 public:
  explicit KeptWork(std::function<void()> work) : work_(std::move(work)) {}
  void run() override { work_(); }

 private:
  std::function<void()> work_;
};

}  // namespace acgan
