#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <variant>
#include <vector>

#include "backend/open_backend.h"
#include "base/error.h"
#include "base/printable.h"
#include "cli/bench_command.h"
#include "cli/command_line.h"
#include "cli/evaluate_command.h"
#include "cli/export_command.h"
#include "cli/report_command.h"
#include "cli/sample_command.h"
#include "cli/train_command.h"

namespace {

constexpr int kInternalError = 1;

void print(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0 ||
      std::ferror(stdout) != 0) {
    acgan::fail(acgan::ErrorKind::Output, "cannot write to the standard output");
  }
}

// Runs a command and returns the exit code.
struct CommandRunner {
  int operator()(const acgan::TrainCommand& command) const {
    return acgan::run_train_command(command);
  }
  int operator()(const acgan::BenchCommand& command) const {
    const int code = acgan::run_bench_command(command);
    if (code == 0) print("");  // its tables must have got there
    return code;
  }
  int operator()(const acgan::SampleCommand& command) const {
    acgan::run_sample_command(command);
    return 0;
  }
  int operator()(const acgan::EvaluateCommand& command) const {
    acgan::run_evaluate_command(command);
    print("");  // its table must have got there
    return 0;
  }
  int operator()(const acgan::ExportCommand& command) const {
    acgan::run_export_command(command);
    print("");  // its lines must have got there
    return 0;
  }
  int operator()(const acgan::ReportCommand& command) const {
    acgan::run_report_command(command);
    return 0;
  }
  int operator()(const acgan::DevicesCommand&) const {
    print(acgan::list_devices());
    return 0;
  }
  int operator()(const acgan::PrintCommand& command) const {
    print(command.text);
    return 0;
  }
};

// One line, whatever names and keys in the message contain.
int report(const std::string& message, int exit_code) {
  std::fprintf(stderr, "acgan-train: error: %s\n", acgan::printable(message).c_str());
  return exit_code;
}

// OpenMP's threads spin while they wait unless told otherwise, and crawl as soon as another program
// wants a core (seen: steps six times longer); on an idle machine sleeping ones are as fast. The
// runtime reads this only once, before main, so the program starts itself again. Where that cannot
// be, they spin.
void wait_without_spinning(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  ::setenv("OMP_WAIT_POLICY", "passive", 0);
  ::execv("/proc/self/exe", argv);
}

}  // namespace

int main(int argc, char** argv) {
  wait_without_spinning(argv);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is an error like a full disk
  try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    return std::visit(CommandRunner{}, acgan::parse_command_line(arguments));
  } catch (const acgan::Error& error) {
    return report(error.what(), static_cast<int>(error.kind()));
  } catch (const std::bad_alloc&) {
    return report("out of memory; try a smaller --batch or a smaller model",
                  static_cast<int>(acgan::ErrorKind::Device));
  } catch (const std::exception& error) {
    return report(fmt::format("internal error: {}", error.what()), kInternalError);
  }
}
