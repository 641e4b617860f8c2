#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

namespace acgan::test {

// How one run of the program ended.
struct ProgramResult {
  int exit_code = -1;  // 128 + N when signal N killed it
  std::string out, err;
};

// Where the program's stdout leads: a file, or somebody who may go away while it runs.
enum class Reader { File, Pipe, Terminal };

struct ProgramOptions {
  Reader reader = Reader::File;    // of stdout
  std::size_t most_memory = 0;     // bytes of address space; 0: no limit
  std::size_t most_file_size = 0;  // bytes of each file it writes, as if the disk were full then
};

// The real program, started with these arguments in a folder, its output caught in files there.
class Program {
 public:
  Program(const std::string& folder, const std::vector<std::string>& arguments,
          const ProgramOptions& options = {});
  ~Program();  // kills it when it still runs
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Waits until `text` stands in what it wrote to stdout so far; false after half a minute, or
  // when the program ended without it.
  bool wait_for(const std::string& text);
  // Waits until `text` stands in the file of that name; false after half a minute.
  static bool wait_for_text(const std::string& path, const std::string& text);
  void signal(int number) const;
  pid_t process() const { return process_; }
  void close_reader();  // of a pipe or terminal: it is broken, or hangs up
  ProgramResult finish();

 private:
  std::string output();  // on stdout so far

  std::string folder_;
  pid_t process_ = -1;
  int reader_ = -1;   // our end of the pipe or terminal
  std::string read_;  // from it
};

ProgramResult run_program(const std::string& folder, const std::vector<std::string>& arguments,
                          const ProgramOptions& options = {});

}  // namespace acgan::test
