#pragma once

#include "config/config.h"
#include "data/dataset.h"

namespace acgan {

// The test part is for evaluation and never enters training.
enum class CifarPart { Train, Test };

// CIFAR-10, binary or python version: data_batch_1(.bin), data_batch_2(.bin), ... for training,
// test_batch(.bin) apart; RGB, [N,32,32,3], in the order of the files. `config.path` is what
// CifarFiles takes: the folder, one above it, or an archive.
Dataset load_cifar10(const DataConfig& config, CifarPart part);

// CIFAR-100, likewise: train(.bin) and test(.bin); config.labels says which of its two labels.
Dataset load_cifar100(const DataConfig& config, CifarPart part);

}  // namespace acgan
