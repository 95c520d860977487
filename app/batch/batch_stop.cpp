#include "app/batch/batch_stop.h"

#include <csignal>

#include "app/run/signals.h"

namespace sortie {
namespace {

/// Runs that were asked to end and have not are killed then, so that the batch ends within 5 s.
constexpr std::chrono::milliseconds kKillAfter{4500};
/// A run that goes on so long after the time of all is killed.
constexpr std::chrono::seconds kOverTime{90};

}  // namespace

void BatchStop::take_signal(int number) {
  if (signal_ != 0) return;
  signal_ = number;
  kill_at_ = std::chrono::steady_clock::now() + kKillAfter;
}

void BatchStop::give_up(const std::string& why) {
  if (given_up_.empty()) given_up_ = why;
}

void BatchStop::fail(const std::string& run) {
  if (failed_.empty()) failed_ = run;
}

void BatchStop::look_at_time() {
  // Each run ends by itself when its time is over, unless it is blocked or was stopped.
  if (time_.over() && !kill_at_) kill_at_ = std::chrono::steady_clock::now() + kOverTime;
}

std::string BatchStop::reason() const {
  if (signal_ != 0) return std::string("stopped by ") + signal_name(signal_);
  if (!given_up_.empty()) return given_up_;
  if (!failed_.empty()) return "not started, since " + failed_ + " had failed (--keep-going)";
  if (time_.over()) return "the time of the batch is over";
  return "";
}

ExitCode BatchStop::code_of_signal() const {
  return signal_ == SIGINT ? ExitCode::interrupted : ExitCode::terminated;
}

}  // namespace sortie
