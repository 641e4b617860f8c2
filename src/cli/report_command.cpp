#include "cli/report_command.h"

#include "base/atomic_file.h"
#include "base/format.h"
#include "report/figure.h"
#include "train/run_report.h"

namespace acgan {

void run_report_command(const ReportCommand& command) {
  const RunDirectory run = RunDirectory::open(command.run);
  check_can_draw();
  const std::string path = command.out.value_or(run.report_file());
  check_is_replaceable(path);
  write_file_atomically(path, run_report(run));
  fmt::print("written: {}\n", path);
}

}  // namespace acgan
