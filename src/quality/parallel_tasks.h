#pragma once

#include <cstdint>
#include <exception>

namespace acgan {

// Calls body(task) for every task in [0, tasks), on as many threads as the process computes with,
// in any order. What a task throws is thrown here, once all are done.
template <typename Body>
void for_each_task(std::int64_t tasks, const Body& body) {
  std::exception_ptr failure;
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t task = 0; task < tasks; ++task) {
    try {
      body(task);
    } catch (...) {
#pragma omp critical
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace acgan
