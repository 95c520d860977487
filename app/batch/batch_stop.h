#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "app/batch/batch_time.h"
#include "core/base/exit_code.h"

namespace sortie {

/// What keeps a batch from starting further runs: a signal, its provider, a failure, or its time.
class BatchStop {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit BatchStop(const BatchTime& time) : time_(time) {}

  /// A signal to stop; runs that have not ended a little later are to be killed.
  void take_signal(int number);
  /// The provider asks for so long a pause that the same command later is the better way.
  void give_up(const std::string& why);
  /// A run failed for good, and the batch does not keep going.
  void fail(const std::string& run);
  /// To be called from time to time: runs that go on long after the time of the batch are to be killed.
  void look_at_time();

  int signal() const noexcept { return signal_; }
  /// "the provider's limit ends only in …"; "" if it was not given up.
  const std::string& given_up() const noexcept { return given_up_; }
  /// Why no further run is started; "" if one may be.
  std::string reason() const;
  /// Whether runs that were started may be started again: no signal came, and there is time.
  bool lets_go_on() const { return signal_ == 0 && !time_.over(); }
  /// Whether the same command goes on with what was not started.
  bool may_go_on() const { return signal_ != 0 || !given_up_.empty(); }
  /// When all that still runs is killed.
  std::optional<Time> kill_at() const noexcept { return kill_at_; }
  /// The exit code of a batch that was stopped by a signal.
  ExitCode code_of_signal() const;

 private:
  const BatchTime& time_;
  int signal_ = 0;
  std::string given_up_;
  std::string failed_;  ///< the run
  std::optional<Time> kill_at_;
};

}  // namespace sortie
