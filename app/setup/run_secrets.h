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

/// The secrets of a run: sortie's own environment, the models' keys, a sign-in; and the redactor that
/// knows them all.
class RunSecrets {
 public:
  /// Reads the environment, but no key yet.
  RunSecrets(const RunInputs& inputs, const RunOptions& options);
  RunSecrets(const RunSecrets&) = delete;
  RunSecrets& operator=(const RunSecrets&) = delete;

  /// Sortie's own environment, with the tokens of the task's MCP servers.
  const Environment& own() const noexcept { return own_; }
  /// The environment that commands may inherit from, without the variables of keys and tokens.
  Environment for_commands() const;

  /// Reads the keys and the sign-in; by then, no process may be able to read this one's memory. Tokens
  /// from a refresh of the sign-in become secrets too.
  /// @param notices  outlives the run's requests
  /// @throws Error  usage, auth
  void take_credentials(const SandboxProfile& profile, Notices& notices);
  /// Teaches the redactor the secrets of the environment. Reads nothing that this process does not
  /// have in its memory already, so a keeper may still be forked later.
  void learn_environment();
  /// Collects the secrets and erases their variables. Only the first call has an effect.
  /// @param git_files  files of repositories that may have credentials; nothing: searches the
  ///                   workspace for them
  void collect(const std::optional<std::vector<std::filesystem::path>>& git_files);
  /// Teaches the redactor all that was collected, before anything is recorded. Only the first call has
  /// an effect; a run that fails before it calls this at its end, to redact its messages.
  void learn();

  const Redactor& redactor() const noexcept { return redactor_; }
  const ModelKeys& keys() const noexcept { return keys_; }
  const std::optional<RunSignIn>& sign_in() const noexcept { return sign_in_; }
  const ProxySettings& proxy() const noexcept { return proxy_; }
  /// The values that no command may see, which the canary searches for.
  const std::vector<std::string>& kept_from_commands() const noexcept { return kept_; }
  /// Variables whose values are not searched for although their names look secret.
  const std::vector<std::string>& not_searched_for() const noexcept { return not_searched_for_; }

 private:
  void collect_keys();
  void collect_sign_in();
  void erase_variables();

  const RunInputs& inputs_;
  const RunOptions& options_;
  Environment own_;
  Redactor redactor_;
  ModelKeys keys_;
  std::optional<RunSignIn> sign_in_;
  ProxySettings proxy_;
  std::optional<KnownSecrets> known_;             ///< the environment's
  std::optional<std::vector<Secret>> collected_;  ///< all others
  bool learned_ = false;
  std::vector<std::string> kept_;
  std::vector<std::string> not_searched_for_;
};

}  // namespace sortie
