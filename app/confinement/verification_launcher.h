#pragma once

#include <memory>
#include <string>

#include "app/confinement/confinement.h"
#include "core/process/launcher.h"

namespace sortie {

/// Starts the commands of one verification, which finds nothing of what the agent's commands left
/// outside the workspace: they share a private set that is empty at first and gone at the end.
class VerificationLauncher : public Launcher {
 public:
  /// @param confinement  outlives it
  explicit VerificationLauncher(Confinement& confinement);
  VerificationLauncher(const VerificationLauncher&) = delete;
  VerificationLauncher& operator=(const VerificationLauncher&) = delete;
  ~VerificationLauncher() override;

  std::unique_ptr<RunningCommand> start(const Command& command) override;
  std::chrono::milliseconds time_left() const override;

 private:
  Confinement& confinement_;
  std::string name_;
};

}  // namespace sortie
