#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/inputs/auth_file_choice.h"
#include "app/inputs/options.h"
#include "app/inputs/run_inputs.h"
#include "app/setup/models.h"
#include "app/setup/run_services.h"
#include "core/net/proxy.h"
#include "core/secrets/redact.h"
#include "policies/environment/environment.h"
#include "policies/environment/known_secrets.h"
#include "policies/sandbox/profile.h"

namespace sortie {

/// What is secret in a run: sortie's own environment, the models' keys, a sign-in, and the redactor
/// that knows them all.
class RunSecrets {
 public:
  /// Reads the environment, and no key yet.
  RunSecrets(const RunInputs& inputs, const RunOptions& options);
  RunSecrets(const RunSecrets&) = delete;
  RunSecrets& operator=(const RunSecrets&) = delete;

  /// Sortie's own environment, with the tokens of the task's servers.
  const Environment& own() const noexcept { return own_; }
  /// What commands may inherit from: all but the keys, whatever their variables are called.
  Environment for_commands() const;

  /// Reads the keys and the sign-in: nobody may be able to read this process's memory by then. What
  /// a refresh of the sign-in brings is a secret from then on.
  /// @param notices  outlives the run's requests
  /// @throws Error  usage, auth
  void take_credentials(const SandboxProfile& profile, Notices& notices);
  /// Collects the secrets, and erases the variables that held them. Only the first call does
  /// anything: a run that fails before its own has shown nothing of them, and its words are
  /// redacted at its end.
  /// @param git_files  files of repositories that may hold credentials; nothing: they are looked
  ///                   for in the workspace
  void learn(const std::optional<std::vector<std::filesystem::path>>& git_files);

  const Redactor& redactor() const noexcept { return redactor_; }
  const ModelKeys& keys() const noexcept { return keys_; }
  const std::optional<RunSignIn>& sign_in() const noexcept { return sign_in_; }
  const ProxySettings& proxy() const noexcept { return proxy_; }
  /// The values that no command may find: what the canary looks for.
  const std::vector<std::string>& kept_from_commands() const noexcept { return kept_; }
  /// Variables whose value is not looked for although their name asks for it.
  const std::vector<std::string>& not_looked_for() const noexcept { return not_looked_for_; }

 private:
  void learn_keys(KnownSecrets& known);
  void learn_sign_in();
  void erase_variables();

  const RunInputs& inputs_;
  const RunOptions& options_;
  Environment own_;
  Redactor redactor_;
  ModelKeys keys_;
  std::optional<RunSignIn> sign_in_;
  ProxySettings proxy_;
  bool learned_ = false;
  std::vector<std::string> kept_;
  std::vector<std::string> not_looked_for_;
};

}  // namespace sortie
