#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace acgan::test {

// How one run of the program ended.
struct ProgramResult {
  int exit_code = -1;  // 128 + N when signal N killed it
  std::string out, err;
};

// The real program, started with these arguments in a folder, its output caught in files there.
class Program {
 public:
  Program(const std::string& folder, const std::vector<std::string>& arguments);
  ~Program();  // kills it when it still runs
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Waits until `text` stands in what it wrote to stdout so far; false after half a minute, or
  // when the program ended without it.
  bool wait_for(const std::string& text) const;
  void signal(int number) const;
  ProgramResult finish();

 private:
  std::string folder_;
  pid_t process_ = -1;
};

ProgramResult run_program(const std::string& folder, const std::vector<std::string>& arguments);

}  // namespace acgan::test
