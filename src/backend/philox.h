#pragma once

#include <array>
#include <cstdint>

#include "base/host_device.h"

namespace acgan {

// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011): four
// random words from a 128-bit counter and a 64-bit key. Counter-based, so every backend and every
// thread count gives the same numbers.
ACGAN_HOST_DEVICE inline std::array<std::uint32_t, 4> philox4x32(
    std::array<std::uint32_t, 4> counter, std::uint64_t key) {
  auto key0 = static_cast<std::uint32_t>(key);
  auto key1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53u} * counter[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key0,
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key1,
               static_cast<std::uint32_t>(product0)};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

// What a stream of random numbers is for; part of the counter, so that streams never meet.
enum class RandomStream : std::uint32_t {
  Latents = 1,
  Weights,
  Shuffle,
  SampleLatents,
  Doodles,
  Dropout,
  Augmentation,
  Selection,  // of samples to be judged
  FakeLabels,
  Flip
};

// The four words of block `block` of a stream at `step`.
ACGAN_HOST_DEVICE inline std::array<std::uint32_t, 4> philox_block(std::uint64_t seed,
                                                                   RandomStream stream,
                                                                   std::uint64_t step,
                                                                   std::uint32_t block) {
  return philox4x32({block, static_cast<std::uint32_t>(step),
                     static_cast<std::uint32_t>(step >> 32), static_cast<std::uint32_t>(stream)},
                    seed);
}

// [-1,1) in multiples of 2^-23, exact in float.
ACGAN_HOST_DEVICE inline float uniform_symmetric(std::uint32_t word) {
  return static_cast<float>(word >> 8) * 0x1p-23f - 1.0f;
}

// [0,1) in multiples of 2^-24, exact in float.
inline float uniform_unit(std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }

// Sequential numbers from one stream, for host code (initialisation, drawing, shuffling).
class PhiloxSequence {
 public:
  PhiloxSequence(std::uint64_t seed, RandomStream stream, std::uint64_t step)
      : seed_(seed), stream_(stream), step_(step) {}

  std::uint32_t next() {
    if (used_ == 4) {
      words_ = philox_block(seed_, stream_, step_, block_++);
      used_ = 0;
    }
    return words_[used_++];
  }
  float next_unit() { return uniform_unit(next()); }

  // An integer in [0, bound) without bias, bound below 2^32 (Lemire 2019, "Fast random integer
  // generation in an interval").
  std::uint32_t next_below(std::uint32_t bound) {
    std::uint64_t product = std::uint64_t{next()} * bound;
    if (static_cast<std::uint32_t>(product) < bound) {
      const std::uint32_t threshold = (0u - bound) % bound;
      while (static_cast<std::uint32_t>(product) < threshold) {
        product = std::uint64_t{next()} * bound;
      }
    }
    return static_cast<std::uint32_t>(product >> 32);
  }

 private:
  std::uint64_t seed_;
  RandomStream stream_;
  std::uint64_t step_;
  std::uint32_t block_ = 0;
  std::array<std::uint32_t, 4> words_{};
  std::size_t used_ = 4;
};

}  // namespace acgan
