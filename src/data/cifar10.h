#pragma once

#include "config/config.h"
#include "data/dataset.h"

namespace acgan {

// The test part is for evaluation and never enters training.
enum class Cifar10Part { Train, Test };

// CIFAR-10, binary version: data_batch_1.bin, data_batch_2.bin, ... for training, test_batch.bin
// apart, in config.path or in its cifar-10-batches-bin; RGB, [N,32,32,3], in the order of the
// files.
Dataset load_cifar10(const DataConfig& config, Cifar10Part part);

}  // namespace acgan
