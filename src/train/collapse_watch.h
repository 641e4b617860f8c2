#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "run/step_record.h"

namespace acgan {

// Looks at each sample grid of a run, and at how well the classifier did on fake images since the
// one before, for a generator that has collapsed.
class CollapseWatch {
 public:
  CollapseWatch(std::vector<std::string> class_names, std::int64_t batch)
      : class_names_(std::move(class_names)), batch_(batch) {}

  void add(const StepRecord& record);

  // What is wrong with a grid of `rows` x classes images in rows of one latent each (row by row,
  // 0..255), a sentence each:
  // - classes whose images are one flat colour (a black image is);
  // - classes whose images are all but the same in every row, whatever the latent;
  // - a classifier no better than chance on the fakes since the last call.
  // Nothing before kEnoughImages images were trained on: an untrained generator is grey.
  std::vector<std::string> check(std::span<const std::uint8_t> pixels, std::int64_t rows);

  static constexpr std::int64_t kEnoughImages = 5000;

 private:
  std::string classes_text(const std::vector<std::size_t>& classes) const;
  void check_grid(std::span<const std::uint8_t> pixels, std::size_t rows,
                  std::vector<std::string>& sentences) const;
  void check_classifier(std::vector<std::string>& sentences) const;

  std::vector<std::string> class_names_;
  std::int64_t batch_;
  std::int64_t images_seen_ = 0;  // by this process
  std::int64_t fakes_ = 0;        // since the last check
  double correct_fakes_ = 0;
};

}  // namespace acgan
