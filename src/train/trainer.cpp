#include "train/trainer.h"

#include "train/training.h"

namespace acgan {

RunEnd run_training(const TrainRequest& request, Log& log,
                    const std::atomic<int>& signal_received) {
  return Training(request, log, signal_received).run();
}

}  // namespace acgan
