#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace acgan {

enum class DataKind { QuickDraw, Cifar10, Cifar100, Mnist, FashionMnist, Folder, Doodles };
enum class Cifar100Labels { Fine, Coarse };
enum class PrecisionMode { Fp32, Mixed };
enum class HalfType { Auto, Fp16, Bf16 };
enum class Objective { Dgq, Joint };
enum class ConvKernels { Auto, Handwritten, Cudnn };
enum class OnWriteError { Stop, Continue };
enum class SourceLoss { Bce, Hinge };
enum class LabelSampling { Data, Even };
enum class BestBy { Auto, None, ClassAccuracy, Frechet, Kid, Precision, Recall };
enum class ModelPreset { Study, Resnet32 };
enum class RateDecay { Constant, Linear, Cosine };

// Every setting of a run: type, default and meaning. YAML keys are the member names, nested as
// here (`data.kind`, `optimizer.learning_rate`). Times are minutes, or have a unit (90s, 7m, 1.5h).
struct DataConfig {
  DataKind kind = DataKind::Doodles;
  std::string path;                  // folder of the data set (cifar10, cifar100: or its archive)
  std::vector<std::string> classes;  // which classes, in label order; empty: all, sorted by name
  std::int64_t limit_per_class = 0;  // at most so many images a class; 0: all
  // Side of the square images; a multiple of 4, of 8 for model.preset resnet32 (CIFAR: 32).
  std::int64_t image_size = 28;
  std::int64_t channels = 0;     // 1 or 3; 0: what the kind has (folder: 3)
  bool only_recognized = false;  // quickdraw strokes: leave out what the game did not recognize
  Cifar100Labels labels = Cifar100Labels::Fine;  // of cifar100: 100 fine classes or 20 coarse ones
  bool skip_unreadable = false;  // of folder: leave out images that cannot be read, and count them
  bool cache =
      true;  // of folder: keep decoded images in the user's cache folder for the next start
  std::int64_t doodles_per_class = 2000;  // how many drawings of each class the built-in set has
  // Share of each class (0 to 0.5) that is kept from training, for `evaluate`; quickdraw and folder
  // only, the others have images of their own for that.
  double held_out = 0;
  bool flip = false;  // half of the real images, drawn anew each time, are mirrored left to right
};

struct ModelConfig {
  // study: the study's convolutions; resnet32: deeper, residual blocks (Miyato et al. 2018).
  ModelPreset preset = ModelPreset::Study;
  std::int64_t latent_dim = 100;  // length of z
  // Of study alone:
  std::int64_t dense_width = 1024;  // generator.dense1, discriminator.dense3
  std::int64_t conv1_width = 64;    // channels at half the image size
  std::int64_t conv2_width = 128;   // channels at a quarter of the image size
  // Of resnet32 alone: channels of every block.
  std::int64_t generator_width = 256;
  std::int64_t discriminator_width = 128;
  // Of both:
  std::int64_t classifier_width = 128;  // classifier.dense1
  // Each weight of the discriminator (trunk and source head, not the classifier's own layers) is
  // divided by an estimate of its largest singular value (Miyato et al. 2018).
  bool spectral_norm = false;
};

struct PrecisionConfig {
  PrecisionMode mode = PrecisionMode::Fp32;
  HalfType half = HalfType::Auto;    // 16-bit type of `mixed`
  std::optional<double> loss_scale;  // a number: fixed; none ("dynamic"): moved by the rules below
  double init_scale = 65536;
  double growth_factor = 2;
  double backoff_factor = 0.5;
  std::int64_t growth_interval = 2000;
  double min_scale = 1;
  double max_scale = 16777216;
  std::int64_t max_consecutive_skips = 50;  // of one optimiser; more end the run with exit code 4
};

struct LearningRates {
  double d = 2.0e-4, g = 2.0e-4, q = 2.0e-4;
};

struct OptimizerConfig {
  LearningRates learning_rate;
  double beta1 = 0.5;
  double beta2 = 0.999;
  double epsilon = 1.0e-8;
  RateDecay schedule = RateDecay::Constant;  // how the learning rates fall; skips do not count
  std::int64_t warmup_steps = 0;  // steps over which they first rise in a line from near zero
  std::int64_t decay_steps = 0;   // the step at which they have fallen; 0: train.steps
  double decay_to = 0;            // share of them (0 to 1) that is left then
};

struct TrainConfig {
  std::int64_t batch = 64;
  std::int64_t steps = 0;                 // 0: no limit
  double minutes = 7;                     // 0: no limit; of training time
  std::optional<std::uint64_t> seed = 1;  // none ("random"): drawn and printed
  std::string device = "auto";            // auto | cpu | cuda | cuda:N
  std::int64_t threads = 0;               // CPU threads; 0: all that the process may use
  Objective objective = Objective::Dgq;
  ConvKernels conv = ConvKernels::Auto;  // of a GPU; auto: handwritten in 16 bits, cuDNN in fp32
  bool allow_tf32 = false;               // fp32 on a GPU may round factors to TF32
  // Decay a step of the generator's exponential moving average, which draws the grids and is judged
  // in its place; 0: none. At its t-th update it decays by t / (t + ema_rampup) at most.
  double ema = 0;
  std::int64_t ema_rampup = 10;
  SourceLoss loss = SourceLoss::Bce;  // of D's and the generator's source: cross entropy or hinge
  double label_smoothing = 0;  // D's target for real images is 1 minus this (bce; 0 to below 0.5)
  LabelSampling label_sampling = LabelSampling::Data;  // labels of fakes: the batch's, or all alike
  std::int64_t d_steps = 1;         // updates of D a step, each with a batch of its own
  bool classify_fakes_in_d = true;  // fakes teach discriminator and classifier the classes as well
  // DiffAugment of what the discriminator sees: color, translation, cutout.
  std::vector<std::string> augment;
};

struct OutputConfig {
  std::string dir = "runs";
  double sample_every = 1;        // minutes of training; 0: never
  std::vector<double> sample_at;  // minutes of training
  double save_every = 5;          // minutes of training; 0: only at the end
  std::int64_t keep = 2;          // checkpoints kept
  std::int64_t rows = 10;         // rows of a sample grid
  double evaluate_every = 0;      // minutes of training between quality figures; 0: never
  // The figure of metrics.jsonl by which the best state so far is kept as best.safetensors;
  // auto: frechet where evaluate_every is above 0, else none.
  BestBy best_by = BestBy::Auto;
  // What a full disk means while a run trains. `continue`: a warning, and the write is tried again
  // when it is due again; the end of the run still fails where its last files cannot be written.
  OnWriteError on_write_error = OnWriteError::Stop;
  bool report = true;        // report.html at the end, where gnuplot is installed
  bool animation = false;    // samples/progress.webp at the end: the grids one after the other
  bool tensorboard = false;  // tensorboard/: losses, loss scales, speed and grids as event files
};

struct Config {
  DataConfig data;
  ModelConfig model;
  PrecisionConfig precision;
  OptimizerConfig optimizer;
  TrainConfig train;
  OutputConfig output;
  std::string name;  // stem of the YAML file; part of the run directory's name; not a key
};

}  // namespace acgan
