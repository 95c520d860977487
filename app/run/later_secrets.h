#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/inputs/options.h"
#include "app/inputs/run_inputs.h"
#include "core/secrets/redact.h"

namespace sortie {

/// Where secrets are that a run knew and its record does not hold, beside this process's environment.
struct LaterSecrets {
  std::string api_key_file{};
  std::optional<int> api_key_fd{};  ///< closed once read
  std::string auth_file{};
  std::vector<std::string> key_variables{};
  /// Folders in repositories whose settings may hold credentials.
  std::vector<std::filesystem::path> folders{};
  /// Whether repositories are searched for below the folders too, as a run does in its workspace.
  bool searches_folders = false;
};

/// Those of a run that this process has the flags of, but does not run.
LaterSecrets later_secrets_of(const RunInputs& inputs, const RunOptions& options);

/// Adds them, by the names that the run itself gives them.
/// @throws Error  a key or sign-in can't be read: what is written without it may show it
void learn_later(Redactor& redactor, const LaterSecrets& sources);

/// The redactor for what is told of a recorded run: the environment's secrets, what the recorded
/// policy counts as such too, and the sources. The record says nothing of where else to look: a forged
/// one could have any file guessed at.
/// @param run  a run's output folder, or its transcript
/// @throws Error  as learn_later()
void learn_of_recorded_run(Redactor& redactor, const std::filesystem::path& run,
                           LaterSecrets sources);

}  // namespace sortie
