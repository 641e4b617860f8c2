#pragma once

#include <atomic>
#include <csignal>

namespace acgan {

// While it lives, SIGINT, SIGTERM and SIGHUP ask for an orderly end; a second one ends the process
// at once. A closed pipe is no reason to stop.
class SignalGuard {
 public:
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

  const std::atomic<int>& received() const;  // the number of the signal, or 0

 private:
  struct sigaction old_interrupt_ {};
  struct sigaction old_terminate_ {};
  struct sigaction old_hang_up_ {};
  struct sigaction old_pipe_ {};
};

}  // namespace acgan
