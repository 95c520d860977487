#include "app/setup/run_secrets.h"

#include <algorithm>
#include <utility>

#include "app/inputs/provider_choice.h"
#include "app/inputs/run_inputs.h"
#include "core/git/config/git_secrets.h"
#include "core/provider/sign_in/credentials.h"
#include "core/secrets/address_passwords.h"
#include "core/workspace/tree_search.h"

namespace sortie {
namespace {

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

RunSecrets::RunSecrets(const RunInputs& inputs, const RunOptions& options)
    : inputs_(inputs), options_(options), own_(own_environment()) {}

Environment RunSecrets::for_commands() const {
  Environment environment = own_;
  for (const auto& name : key_variables(inputs_)) environment.erase(name);
  for (const auto& name : mcp_token_variables(inputs_.task)) environment.erase(name);
  return environment;
}

void RunSecrets::take_credentials(const SandboxProfile& profile, Notices& notices) {
  keys_ = take_model_keys(inputs_, options_);
  sign_in_ = take_sign_in(inputs_, options_, profile);
  if (!sign_in_) return;
  sign_in_->options.learn = [this](const std::vector<Secret>& tokens) {
    redactor_.add_all(tokens);
  };
  sign_in_->options.say = [&notices](const std::string& line) { notices.say(line); };
  sign_in_->options.warn = [&notices](const std::string& line) { notices.warn(line); };
}

void RunSecrets::learn_environment() {
  if (known_) return;
  proxy_ = proxy_of_environment();
  known_ = known_secrets(inputs_.policy, own_);
  // The first name of a value is shown in its place: that of a key says most.
  const std::vector<std::string> keys = key_variables(inputs_);
  std::stable_partition(known_->values.begin(), known_->values.end(),
                        [&keys](const Secret& one) { return is_among(keys, one.name); });
  sortie::learn(redactor_, inputs_.policy, known_->values);
}

void RunSecrets::collect(const std::optional<std::vector<std::filesystem::path>>& git_files) {
  if (collected_) return;
  learn_environment();
  collected_.emplace();
  collect_keys();
  collect_sign_in();
  for (auto& secret : git_config_secrets(
           inputs_.workspace, git_files ? *git_files : search_tree(inputs_.workspace).git_files))
    collected_->push_back(std::move(secret));
  for (const TaskMcpServer& server : inputs_.task.mcp)
    for (Secret& secret : program_secrets(inputs_.policy, own_, server.command, server.environment))
      collected_->push_back(std::move(secret));
  not_searched_for_ = known_->left_out;
  erase_variables();
}

void RunSecrets::learn() {
  if (std::exchange(learned_, true)) return;
  // Each value is looked for in some twenty forms, which take a while to be made.
  std::erase_if(*collected_, [this](const Secret& one) {
    return std::any_of(known_->values.begin(), known_->values.end(),
                       [&one](const Secret& known) { return known.value == one.value; });
  });
  redactor_.add_all(*collected_);
}

/// Also those from a file or descriptor, which no variable has.
void RunSecrets::collect_keys() {
  for (const Secret& secret : keys_.of_requests) {
    if (!is_looked_for(secret.value, own_)) continue;
    kept_.push_back(secret.value);
    collected_->push_back(secret);
  }
  for (const auto& key : keys_.keys) {
    if (!key.value) continue;
    if (is_looked_for(*key.value, own_)) {
      kept_.push_back(*key.value);
      collected_->push_back({key.variable, *key.value});
    } else if (!is_among(known_->left_out, key.variable)) {
      known_->left_out.push_back(key.variable);
    }
  }
}

void RunSecrets::collect_sign_in() {
  if (!sign_in_) return;
  for (const Secret& token : sign_in_->file.secrets()) {
    collected_->push_back(token);
    kept_.push_back(token.value);
  }
}

/// Erases all variables of this process that hold a secret.
void RunSecrets::erase_variables() {
  for (const Secret& secret : known_->of_variables) {
    take_environment_key(secret.name);
    // The canary may find variables that the policy gives to commands.
    const bool given = is_among(inputs_.policy.environment_include, secret.name);
    if (!given && is_looked_for(secret.value, own_)) kept_.push_back(secret.value);
  }
  for (const auto& [name, value] : own_)
    if (value.find("://") != std::string::npos && !address_passwords(value).empty())
      take_environment_key(name);
}

}  // namespace sortie
