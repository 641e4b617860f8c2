#include <catch2/catch.hpp>
#include <cmath>

#include "train/best_evaluation.h"

namespace acgan {
namespace {

QualityFigures some_figures() {
  QualityFigures figures;
  figures.samples = 20;
  figures.references = 10;
  figures.class_accuracy = 0.5;
  figures.frechet_distance = 7.25;
  figures.kernel_distance.mean = -0.125;
  figures.precision = 0.75;
  figures.recall = 0.1;
  return figures;
}

std::optional<BestEvaluation> judged(BestBy by) {
  OutputConfig output;
  output.best_by = by;
  return judged_by(output, some_figures(), "abc", 12);
}

TEST_CASE("an evaluation is judged by the figure asked for, by its name in metrics.jsonl") {
  CHECK_FALSE(judged(BestBy::None));
  const auto plain = judged(BestBy::Auto);
  CHECK(plain->by == "frechet");
  CHECK(plain->value == 7.25);
  CHECK(plain->step == 12);
  CHECK(plain->ruler == "feature net abc, 20 images against 10");
  CHECK(judged(BestBy::Kid)->by == "kid");
  CHECK(judged(BestBy::Kid)->value == -0.125);
  CHECK(judged(BestBy::ClassAccuracy)->by == "class_accuracy");
  CHECK(judged(BestBy::ClassAccuracy)->value == 0.5);
  CHECK(judged(BestBy::Precision)->value == 0.75);
  CHECK(judged(BestBy::Recall)->value == 0.1);
}

TEST_CASE("distances are better when smaller, shares when larger, equal and NaN never") {
  for (const BestBy by :
       {BestBy::Frechet, BestBy::Kid, BestBy::Precision, BestBy::Recall, BestBy::ClassAccuracy}) {
    const BestEvaluation best = *judged(by);
    BestEvaluation other = best;
    CHECK_FALSE(is_better(other, best));
    const bool wants_less = by == BestBy::Frechet || by == BestBy::Kid;
    other.value = best.value - 0.01;
    CHECK(is_better(other, best) == wants_less);
    other.value = best.value + 0.01;
    CHECK(is_better(other, best) != wants_less);
    other.value = std::nan("");
    CHECK_FALSE(is_better(other, best));
  }
  BestEvaluation other = *judged(BestBy::Frechet);
  CHECK(are_comparable(other, *judged(BestBy::Auto)));
  CHECK_FALSE(are_comparable(other, *judged(BestBy::Kid)));
  other.ruler = "another";
  CHECK_FALSE(are_comparable(other, *judged(BestBy::Frechet)));
}

TEST_CASE("what is the best is read back from a checkpoint's texts to the last digit") {
  BestEvaluation best = *judged(BestBy::Recall);
  best.value = 0.1234567890123456789;
  Checkpoint checkpoint;
  checkpoint.set_text("step", "12");
  mark_best(best, checkpoint);
  const auto back = best_in(checkpoint.texts());
  REQUIRE(back);
  CHECK(back->by == "recall");
  CHECK(back->value == best.value);
  CHECK(back->step == 12);
  CHECK(back->ruler == best.ruler);
  for (const auto& [key, text] : {std::pair{"best_value", "nan"},
                                  {"best_value", "1x"},
                                  {"best_value", ""},
                                  {"step", "12.5"}}) {
    auto texts = checkpoint.texts();
    texts[key] = text;
    CHECK_FALSE(best_in(texts));
  }
  for (const char* key : {"best_by", "best_value", "best_ruler", "step"}) {
    auto texts = checkpoint.texts();
    texts.erase(key);
    CHECK_FALSE(best_in(texts));
  }
}

}  // namespace
}  // namespace acgan
