#pragma once

#include <array>
#include <cstdint>

namespace acgan {

// What one step left behind, as the logs see it.
struct StepRecord {
  std::int64_t step = 0;       // 1 for the first
  std::int64_t images = 0;     // real images seen in all
  double elapsed_seconds = 0;  // training time so far
  double batch_ms = 0;
  double images_per_second = 0;  // of this step
  float d_loss = 0, g_loss = 0, q_loss = 0;
  float accuracy_real = 0, accuracy_fake = 0;  // classifier on the step's real and fake images
  std::array<float, 3> loss_scale{};           // D, G, Q
  std::array<std::int64_t, 3> skipped{};       // steps skipped so far: D, G, Q
};

}  // namespace acgan
