#pragma once

#include <csignal>

#include "core/base/fd.h"

namespace sortie {

/// Signals to stop, and of ended processes, as something to poll. They are blocked in this process as
/// long as the object lives; those that the caller ignores stay ignored.
class AttemptSignals {
 public:
  AttemptSignals();
  AttemptSignals(const AttemptSignals&) = delete;
  AttemptSignals& operator=(const AttemptSignals&) = delete;
  ~AttemptSignals();

  int descriptor() const noexcept { return signals_.get(); }
  /// The next signal to stop that has come, 0 for none.
  int take() const;

 private:
  Fd signals_;
  sigset_t before_{};
};

}  // namespace sortie
