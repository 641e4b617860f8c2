#include "cli/export_options.h"

#include "cli/option_parser.h"
#include "cli/weights_option.h"

namespace acgan {
namespace {

const char* const kFooter =
    R"(The model: inputs latent (float [N, latent_dim], uniform in [-1,1)) and class (int64 [N]),
output image (float [N, channels, height, width] in [0,1]), for any N. Batch norms are folded into
the weights. Opset 13; the class names are in the metadata as "classes".)";

}  // namespace

Command parse_export(const std::vector<std::string>& arguments) {
  OptionParser parser("export", "A trained generator as an ONNX file.");
  std::optional<std::string> checkpoint, onnx, weights;
  parser.value("--checkpoint", "PATH", "a checkpoint, or a run directory: its newest one; required",
               checkpoint);
  parser.value("--onnx", "FILE", "the file to write; required", onnx);
  parser.value("--weights", kWeightsForm, kWeightsMeaning, weights);
  parser.footer(kFooter);

  if (auto help = parser.parse(arguments)) return *help;
  if (!checkpoint) parser.reject("expected --checkpoint PATH, found none");
  if (!onnx) parser.reject("expected --onnx FILE, found none");
  if (onnx->empty()) parser.reject("--onnx must name a file, found nothing");
  ExportCommand command{.checkpoint = *checkpoint, .onnx = *onnx};
  if (weights) command.weights = checked_weights(parser, *weights);
  return command;
}

}  // namespace acgan
