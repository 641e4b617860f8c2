#pragma once

#include <algorithm>
#include <cstdint>

#include "backend/cpu/vector_load.h"

namespace acgan::cpu {

// Below this many elements, waking the threads takes longer than the work.
inline constexpr std::int64_t kSerialBelow = 16384;

// Calls body(task) for every task in [0, tasks); `elements` is the size of the whole work. Each
// thread gets one run of neighbouring tasks, always the same.
template <typename Body>
void for_each_task(int threads, std::int64_t tasks, std::int64_t elements, const Body& body) {
#pragma omp parallel for schedule(static) num_threads(threads) if (elements >= kSerialBelow)
  for (std::int64_t task = 0; task < tasks; ++task) body(task);
}

// Calls body(begin, end) for the pieces of [0, count). Pieces begin at multiples of 4096, so that
// no two threads write to one cache line, and do not depend on the number of threads.
template <typename Body>
void for_each_piece(int threads, std::int64_t count, const Body& body) {
  constexpr std::int64_t kPiece = 4096;
  for_each_task(threads, (count + kPiece - 1) / kPiece, count, [&](std::int64_t piece) {
    body(piece * kPiece, std::min((piece + 1) * kPiece, count));
  });
}

// Calls body(index, lanes) for the vectors that cover [0, count).
template <typename Body>
void for_each_vector(int threads, std::int64_t count, const Body& body) {
  for_each_piece(threads, count,
                 [&](std::int64_t begin, std::int64_t end) { for_each_vector(begin, end, body); });
}

}  // namespace acgan::cpu
