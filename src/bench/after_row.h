#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace acgan {

// What an independent classifier and the features in it say of a generator's images; see quality/.
struct AfterQuality {
  double accuracy = 0;  // share of the fakes that are taken for the class that was asked for
  double frechet = 0, kernel = 0;
  double precision = 0, recall = 0;
  double diversity = 0;
};

// One precision after a given time of training.
struct AfterRow {
  std::string precision, half;  // as in BenchRow
  double minutes = 0;           // asked for
  double seconds = 0;           // of training
  std::int64_t step = 0, images = 0;
  double d_loss = 0, g_loss = 0, q_loss = 0;    // of the last step
  double accuracy_real = 0, accuracy_fake = 0;  // of the model's own classifier, last step
  std::int64_t skipped = 0;                     // updates of an optimiser so far
  std::optional<AfterQuality> quality;          // none: not measured
  std::string grid;                             // file name beside the JSON
  std::string note;
  bool diverged = false;

  std::string label() const { return half.empty() ? precision : precision + " " + half; }
};

// Trainings in several precisions, each for the same time.
struct AfterResult {
  std::int64_t batch = 0;
  std::vector<AfterRow> rows;  // by time, then precision
  std::vector<std::string> class_names;
  std::string quality_note;  // what the quality figures rest on, or why there are none
  std::vector<std::pair<std::string, std::string>> figures;  // figure 4: file name, PNG
  std::string ended;                                         // kDone, or the signal
};

}  // namespace acgan
