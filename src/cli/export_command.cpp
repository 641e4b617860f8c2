#include "cli/export_command.h"

#include <filesystem>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/printable.h"
#include "bench/output_folder.h"
#include "cli/model_checkpoint.h"
#include "cli/weights_option.h"
#include "export/onnx_model.h"

namespace acgan {
namespace {

namespace fs = std::filesystem;

std::string numbered(const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    list += fmt::format("{}{} {}", i == 0 ? "" : ", ", i, names[i]);
  }
  return printable(list);
}

}  // namespace

void run_export_command(const ExportCommand& command) {
  const Checkpoint checkpoint = load_model_checkpoint(command.checkpoint);
  std::error_code ignored;
  if (fs::equivalent(command.onnx, checkpoint.source(), ignored)) {
    fail(ErrorKind::Usage, "--onnx: {} is the checkpoint itself; name another file", command.onnx);
  }
  check_is_replaceable(command.onnx);
  const ModelFacts facts = read_model_facts(checkpoint);
  const std::string model = onnx_model(checkpoint, facts, command.weights);

  const fs::path folder = fs::path(command.onnx).parent_path();
  if (!folder.empty()) make_output_folder(folder.string(), "--onnx");
  write_file_atomically(command.onnx, model);

  const AcganShape& shape = facts.shape;
  fmt::print("model: {}\nweights: {}\ninputs: latent, float [N,{}], and class, int64 [N]: {}\n",
             checkpoint.source(), weights_text(weights_in(checkpoint, command.weights)),
             shape.widths.latent_dim, numbered(facts.class_names));
  fmt::print("output: image, float [N,{},{},{}] in [0,1]\nwritten: {}\n", shape.channels,
             shape.image_size, shape.image_size, command.onnx);
}

}  // namespace acgan
