#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/data_loader.h"
#include "run/checkpoint.h"
#include "train/run_identity.h"
#include "train/train_step.h"

namespace acgan {

// What a run has done so far; saved with the weights.
struct Progress {
  std::int64_t step = 0;
  double elapsed_seconds = 0;  // training time
};

// What the images of a checkpoint are: facts a later program must know without the run's config.
struct ModelFacts {
  AcganShape shape;
  std::vector<std::string> class_names;
};

// Weights, running statistics, optimiser moments and states, random and data position, progress,
// and in the metadata the config and the facts of model and data set.
Checkpoint save_state(const TrainStep& step, const DataLoader::Position& position,
                      const Progress& progress, const std::string& config_yaml,
                      const DataFacts& data);

// Puts a checkpoint back: the same bits. Throws Error{Output} with the list of all differences
// where it is of another model, class list, data set, precision or objective.
void load_state(const Checkpoint& checkpoint, TrainStep& step, DataLoader& loader,
                Progress& progress, const DataFacts& data);

// How far the run that saved it had come. Throws Error{Output} where it is none of ours.
Progress progress_of(const Checkpoint& checkpoint);

// The seed of the run that saved it. Throws Error{Output} where it is none of ours.
std::uint64_t seed_of(const Checkpoint& checkpoint);

// For sampling: the shape and class names.
ModelFacts read_model_facts(const Checkpoint& checkpoint);

enum class GeneratorWeights { Average, Live };
// "average" or "live", as the option --weights and metrics.jsonl have it.
const char* name_of(GeneratorWeights weights);
// Which weights there are where `wanted` is asked for: Live also where the run kept no average.
GeneratorWeights weights_in(const Checkpoint& checkpoint, GeneratorWeights wanted);
// What generates, by the network's name for it ("generator.dense1.weight"): everybody who uses a
// trained generator takes its arrays from here. Throws Error{Output} unless it is F32 of this
// shape.
const Checkpoint::Array& generator_array(const Checkpoint& checkpoint, const std::string& name,
                                         const Shape& shape, GeneratorWeights wanted);
// The generator's weights and running statistics. Returns which they are.
GeneratorWeights load_generator(const Checkpoint& checkpoint, Acgan& model,
                                GeneratorWeights wanted = GeneratorWeights::Average);

}  // namespace acgan
