#pragma once

#include <cstdint>
#include <string>

#include "config/config.h"
#include "data/dataset.h"

namespace acgan {

// Real images in two parts, for judging what a generator has learnt.
struct RealData {
  Dataset train;     // a judge learns from these; the generator has seen them
  Dataset held_out;  // at least one image of every class
  // Of all that the generator learns from, which is `train`, or both parts where it saw both.
  std::string fingerprint;
  bool generator_saw_held_out = false;
  std::string held_out_source;  // "the test part of CIFAR-10", for logs
};

// Real images as `config` names them. Held out are: for CIFAR and MNIST the test part; for doodles
// fresh drawings from another seed; for the others the share data.held_out, or, where that is 0, a
// tenth that the generator has seen as well. Throws Error{Data} like load_dataset, and where a
// class has too few images to hold one out.
RealData load_real_data(const DataConfig& config, std::uint64_t seed);

// Takes every (1/share)-th image of each class out of `dataset` and returns those: by its number in
// its class alone, so that more images or other classes change nothing for the rest.
// 0 < share <= 0.5.
Dataset hold_out(Dataset& dataset, double share);

}  // namespace acgan
