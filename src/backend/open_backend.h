#pragma once

#include <memory>
#include <string>

#include "backend/backend.h"

namespace acgan {

// The backend for a device name. "cpu": what is fastest on this processor, "onednn" where it has
// AVX-512, else "packed"; "onednn" and "packed": that one; "host": plain loops, the meaning of
// every operation, slow; "cuda" or "cuda:N". `threads` 0 takes all that the process may use. Throws
// Error{Device} where the device cannot be had, saying why.
std::unique_ptr<Backend> open_backend(const std::string& device, int threads);

}  // namespace acgan
