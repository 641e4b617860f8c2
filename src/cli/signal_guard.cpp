#include "cli/signal_guard.h"

#include <unistd.h>

namespace acgan {

namespace {

// The one global of the program: a signal handler can reach nothing else.
std::atomic<int> signal_received{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler writes it");

// The first signal asks for an orderly end; whoever sends a second one does not want to wait.
extern "C" void on_signal(int number) {
  int none = 0;
  if (!signal_received.compare_exchange_strong(none, number)) _exit(128 + number);
}

}  // namespace

SignalGuard::SignalGuard() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;  // the current step and file go on
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &old_interrupt_);
  sigaction(SIGTERM, &action, &old_terminate_);
  sigaction(SIGHUP, &action, &old_hang_up_);
  // Nobody reads the terminal's lines any more (a closed pipe): no reason to lose the training.
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, &old_pipe_);
}

SignalGuard::~SignalGuard() {
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
  sigaction(SIGHUP, &old_hang_up_, nullptr);
  sigaction(SIGPIPE, &old_pipe_, nullptr);
}

const std::atomic<int>& SignalGuard::received() const { return signal_received; }

}  // namespace acgan
