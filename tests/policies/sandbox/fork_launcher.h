#pragma once

#include <functional>

#include "core/process/launcher.h"

namespace sortie::test {

/// Runs canaries in a plain forked child that prepares itself as it is told: with layers, with
/// some of them, or with none.
class ForkLauncher : public Launcher {
 public:
  /// @param prepare  runs in the child; a result other than 0 ends it
  explicit ForkLauncher(std::function<int()> prepare) : prepare_(std::move(prepare)) {}
  std::unique_ptr<RunningCommand> start(const Command& command) override;

 private:
  std::function<int()> prepare_;
};

}  // namespace sortie::test
