#pragma once

#include "config/config.h"
#include "data/dataset.h"

namespace acgan {

// The test part is for evaluation and never enters training.
enum class MnistPart { Train, Test };

// MNIST and what comes in its format (Fashion-MNIST, KMNIST, ...): a folder with a pair of IDX
// files a part, train-images-idx3-ubyte and train-labels-idx1-ubyte, t10k-... for the test part,
// each plain or .gz, also with a dot for the second hyphen; grey, [N,S,S,1]. Images of 28x28 are
// taken as they are or, for an image_size of 32, get two black pixels on each side; else the
// centred square is resized. Classes are "0", "1", ... for kind mnist, the ten pieces of clothing
// for fashion-mnist.
Dataset load_mnist(const DataConfig& config, MnistPart part);

}  // namespace acgan
