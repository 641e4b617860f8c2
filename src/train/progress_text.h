#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"
#include "data/dataset.h"
#include "run/step_record.h"
#include "train/train_step.h"

namespace acgan {

// Pieces of what the terminal shows.
std::string duration_text(double seconds);   // 45s, 7m 03s, 1h 02m 03s
std::string bytes_text(std::size_t bytes);   // 153.2 MiB
std::string count_text(std::int64_t count);  // 431, 53.2 k, 8.31 M
std::string flops_text(double flops);        // 12.34 MFLOP, 1.23 GFLOP
std::string signal_name(int signal);         // SIGINT; of those that ask for an orderly end
// step 120  34%  elapsed 41s  eta 1m 19s  d 1.234 g 0.800 q 2.500  accuracy ...  190.2 images/s
// scales ... skipped ...
std::string progress_line(const StepRecord& record, const TrainConfig& train);
std::string class_table(const Dataset& dataset);  // airplane 3600, apple 2700, ...
std::string model_text(const TrainStep& step);    // parameters by network
std::string memory_text(const std::vector<MemoryShare>& shares, const Dataset& dataset);

}  // namespace acgan
