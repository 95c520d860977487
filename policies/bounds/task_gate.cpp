#include "policies/bounds/task_gate.h"

#include <algorithm>
#include <system_error>

#include "core/base/own_headers.h"
#include "core/files/path_below.h"
#include "core/host/host.h"
#include "core/text/pattern.h"
#include "core/text/text.h"
#include "policies/bounds/mcp_bounds.h"
#include "policies/engine/engine.h"
#include "policies/environment/environment.h"
#include "policies/rules/path_rules.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// The target of a path; empty if it can't be resolved (a loop, a folder without permission).
fs::path resolved_place(const fs::path& path) {
  if (path.empty()) return {};
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  return error ? fs::path() : real;
}

/// Links of both are resolved. Nothing counts as inside "/".
bool leads_into(const fs::path& real, const fs::path& folder) {
  const fs::path place = resolved_place(folder);
  return !place.empty() && place != "/" && is_below(real, place);
}

const std::string* first_match(const std::vector<std::string>& globs, const std::string& name,
                               LetterCase letters) {
  for (const auto& glob : globs)
    if (Pattern::word_glob(glob, letters).matches(name)) return &glob;
  return nullptr;
}

/// Where a file sets a key, "policy.yaml:7"; "" if none does, or a preset, which nobody edits: a
/// policy that extends it adds to its lists.
std::string own_place(const Policy& policy, const std::string& key) {
  const auto place = policy.places.find(key);
  const bool in_file =
      place != policy.places.end() && place->second.file.find_first_of("./") != std::string::npos;
  return in_file ? place->second.file + ":" + std::to_string(place->second.line) : "";
}

std::string to_allow_in_bounds(const Policy& policy, const std::string& lines) {
  if (const auto place = own_place(policy, "bounds"); !place.empty())
    return "; to allow it, add " + lines + " to bounds in " + place;
  return "; to allow it, the policy says bounds: {" + lines + "}";
}

/// The first words of a program's arguments, as an entry of bounds.mcp names them: up to one that
/// is filled in later, or that a glob of words would read in another way.
std::string entry_of_program(const std::vector<std::string>& argv) {
  std::string entry;
  for (const std::string& word : argv) {
    if (word.empty() || word.find_first_of(" *?['{") != std::string::npos) break;
    entry += (entry.empty() ? "" : " ") + word;
  }
  return entry;
}

bool is_listed(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The repository of a folder: the folder itself or the nearest one above it with a `.git`. The
/// folder if there is none, or if it is HOME or "/". "" for "/".
fs::path repository_or_folder(const fs::path& folder, const fs::path& home) {
  if (folder.empty() || folder == "/") return {};
  const fs::path at_home = resolved_place(home);
  for (fs::path place = folder; place != "/" && place != at_home; place = place.parent_path()) {
    std::error_code error;
    if (fs::exists(fs::symlink_status(place / ".git", error))) return place;
    if (!place.has_relative_path()) break;
  }
  return folder;
}

}  // namespace

std::string policy_place(const Policy& policy, const std::string& key) {
  const auto place = policy.places.find(key);
  if (place == policy.places.end()) return key + " (the default)";
  return place->second.file + ":" + std::to_string(place->second.line) + ": " + key;
}

std::string to_allow(const Policy& policy, const std::string& bound, const std::string& entry) {
  const std::string shown = "'" + one_line(entry, 200) + "'";
  if (const auto place = own_place(policy, "bounds." + bound); !place.empty())
    return "; to allow it, add " + shown + " to bounds." + bound + " in " + place;
  std::string entries;
  // The first list in a file replaces the default, which is empty for the others.
  if (bound == "vars_env" && policy.places.count("bounds.vars_env") == 0)
    for (const std::string& usual : policy.vars_env) entries += "'" + usual + "', ";
  return to_allow_in_bounds(policy, bound + ": [" + entries + shown + "]");
}

std::string to_allow_key(const Policy& policy, const std::string& variable,
                         const std::string& host) {
  const std::string credentials = "bounds.credentials";
  const std::string key = credentials + "." + variable;
  const std::string shown = "'" + one_line(host, 200) + "'";
  if (const auto place = own_place(policy, key); !place.empty())
    return "; to allow it, add " + shown + " to " + key + " in " + place;
  const std::string entry = variable + ": [" + shown + "]";
  if (const auto place = own_place(policy, credentials); !place.empty())
    return "; to allow it, add " + entry + " to " + credentials + " in " + place;
  return to_allow_in_bounds(policy, "credentials: {" + entry + "}");
}

std::string entries_text(const std::vector<std::string>& entries) {
  std::string text = "[";
  for (const auto& entry : entries) text += (text.size() == 1 ? "" : ", ") + one_line(entry, 60);
  return one_line(text, 200) + "]";
}

fs::path TaskGate::without_tilde(const std::string& path) const {
  if (path != "~" && !path.starts_with("~/"))
    return path.starts_with('/') ? fs::path(path) : places_.workspace / path;
  if (places_.home.empty()) return {};
  return path == "~" ? places_.home : places_.home / path.substr(2);
}

std::string TaskGate::file_problem(const fs::path& file, Own own) const {
  const fs::path real = resolved_place(file);
  if (real.empty()) return "its target can't be resolved";
  bool named = own == Own::counts &&
               (leads_into(real, places_.workspace) || leads_into(real, places_.task_folder));
  for (const auto& entry : policy_.read) {
    const fs::path place = resolved_place(without_tilde(entry));
    named = named || (!place.empty() && is_below(real, place));
  }
  if (!named && own == Own::counts_not) {
    const fs::path entry =
        is_below(real, places_.workspace) ? real.lexically_relative(places_.workspace) : real;
    const std::string shown = "'" + one_line(entry.string(), 200) + "'";
    const auto place = own_place(policy_, "paths.read");
    return "the policy's paths.read does not list it; to allow it, " +
           (place.empty() ? "the policy says paths: {read: [" + shown + "]}"
                          : "add " + shown + " to paths.read in " + place);
  }
  if (!named)
    return "it leads out of the task's folder and of the workspace, and the policy's paths.read "
           "does not have it";
  const PathRules rules(
      policy_,
      {.workspace = places_.workspace, .out = {}, .protected_files = {}, .home = places_.home});
  // Also by the given name: a link `.env` is as hidden as its target.
  if (rules.is_hidden(real) || rules.is_hidden(file)) return "the policy's paths.hide hides it";
  return "";
}

std::string TaskGate::file(const fs::path& file) const { return file_problem(file, Own::counts); }

std::string TaskGate::quoted_file(const fs::path& file) const {
  return file_problem(file, Own::counts_not);
}

std::string TaskGate::file_of_workspace(const fs::path& name) const {
  const fs::path normal = name.lexically_normal();
  if (name.is_absolute()) return "an absolute path is not a file of the workspace";
  if (normal.empty() || normal == ".") return "names no file";
  if (*normal.begin() == "..") return "leads out of the workspace";
  const PathRules rules(
      policy_,
      {.workspace = places_.workspace, .out = {}, .protected_files = {}, .home = places_.home});
  if (rules.is_hidden(normal)) return "the policy's paths.hide hides it";
  // In any letter case, since a file system may not tell .GIT from .git.
  static const Pattern git = Pattern::word_glob(".git", LetterCase::ignored);
  for (const fs::path& part : normal)
    if (git.matches(part.string())) return "is inside a .git folder";
  return "";
}

std::string TaskGate::notes(const std::string& name, const std::vector<fs::path>& own) const {
  if (!is_listed(policy_.carry_over, name))
    return "is beyond the policy's bounds (" + policy_place(policy_, "bounds.carry_over") + " is " +
           entries_text(policy_.carry_over) + ")" + to_allow(policy_, "carry_over", name);
  const fs::path file = places_.out.lexically_normal().parent_path() / name;
  const fs::path real = resolved_place(file);
  const PathRules rules(
      policy_,
      {.workspace = places_.workspace, .out = {}, .protected_files = own, .home = places_.home});
  for (const fs::path& path : {fs::path(name), file, real}) {
    if (rules.is_hidden(path)) return "the policy's paths.hide hides it";
    if (rules.is_protected(path)) return "the policy protects it";
  }
  for (const fs::path& each : own)
    if (!real.empty() && resolved_place(each) == real)
      return "is a file of the task or the policy itself";
  return "";
}

std::vector<fs::path> TaskGate::workspaces() const {
  std::vector<fs::path> named = {
      places_.caller, repository_or_folder(resolved_place(places_.task_folder), places_.home)};
  for (const auto& entry : policy_.workspaces) named.push_back(without_tilde(entry));
  std::vector<fs::path> folders;
  for (const fs::path& folder : named) {
    const fs::path place = resolved_place(folder);
    if (!place.empty() && place != "/") folders.push_back(place);
  }
  return folders;
}

std::string TaskGate::folder(const fs::path& folder) const {
  const fs::path real = resolved_place(folder);
  if (real.empty()) return "its target can't be resolved";
  const std::vector<fs::path> within = workspaces();
  if (std::none_of(within.begin(), within.end(),
                   [&real](const fs::path& place) { return is_below(real, place); }))
    return "it lies outside this folder and the task's repository (" +
           policy_place(policy_, "bounds.workspace") + " is " + entries_text(policy_.workspaces) +
           "); to use it anyway, name it with -C";
  const PathRules rules(policy_,
                        {.workspace = {}, .out = {}, .protected_files = {}, .home = places_.home});
  return rules.is_hidden(real) ? "the policy's paths.hide hides it" : "";
}

std::string TaskGate::keyless_host(const ModelHost& host) const {
  if (host.loopback) return "";
  const bool listed = std::any_of(
      policy_.model_hosts.begin(), policy_.model_hosts.end(), [&host](const std::string& entry) {
        std::string problem;
        const auto pattern = parse_host_pattern(entry, problem);
        if (!pattern || pattern->any) return false;
        const int port = pattern->port != 0 ? pattern->port : host.secure ? 443 : 80;
        return port == host.port && pattern->covers(host.host);
      });
  if (listed) return "";
  const bool address = host.host.find(':') != std::string::npos;
  const std::string entry =
      (address ? "[" + host.host + "]" : host.host) + ":" + std::to_string(host.port);
  return "gets no key, and so must be on loopback (" + policy_place(policy_, "bounds.model_hosts") +
         " is " + entries_text(policy_.model_hosts) + ")" +
         to_allow(policy_, "model_hosts", entry) +
         ", or name it with --base-url or SORTIE_BASE_URL";
}

std::string TaskGate::server_address(const std::string& address) const {
  if (names_address(policy_.mcp, address)) return "";
  // The missing entry is shown in full: a host without its scheme would name a program.
  return "is beyond the policy's bounds (" + policy_place(policy_, "bounds.mcp") + " is " +
         entries_text(policy_.mcp) + ", without " + one_line(address, 80) + ")" +
         to_allow(policy_, "mcp", address);
}

std::string TaskGate::program(const std::vector<std::string>& argv) const {
  if (names_program(policy_.mcp, argv)) return "";
  const std::string entry = entry_of_program(argv);
  return "is beyond the policy's bounds (" + policy_place(policy_, "bounds.mcp") + " is " +
         entries_text(policy_.mcp) + ")" + (entry.empty() ? "" : to_allow(policy_, "mcp", entry));
}

std::string TaskGate::verification(const std::vector<std::string>& argv, Approval approval) const {
  if (!policy_.verify_by_rules) return "";
  const fs::path folder = places_.workspace.empty() ? fs::path("/") : places_.workspace;
  const Decision decision = CommandCheck(policy_, approval, folder).decide(argv);
  if (decision.effect == Effect::allow) return "";
  return "may not run: " + decision.reason + " (" + policy_place(policy_, "bounds.verify") +
         " is rules)";
}

std::string TaskGate::prompt_variable(const std::string& name) const {
  const std::string* excluded = first_match(policy_.environment_exclude, name, LetterCase::ignored);
  if (excluded != nullptr)
    return "never goes into a prompt: it may hold a secret (" +
           policy_place(policy_, "environment.exclude") + " is '" + *excluded + "' among others)";
  if (policy_.credentials.count(name) != 0)
    return "never goes into a prompt: it is a credential (" +
           policy_place(policy_, "bounds.credentials") + " is " + name + ")";
  if (first_match(policy_.vars_env, name, LetterCase::exact) != nullptr) return "";
  return "is beyond the policy's bounds (" + policy_place(policy_, "bounds.vars_env") + " is " +
         entries_text(policy_.vars_env) + ")" + to_allow(policy_, "vars_env", name);
}

std::string TaskGate::server_variable(const std::string& name) const {
  if (name == "PATH" || name == "HOME" || makes_programs_run_code(name))
    return "could make its program run other code";
  if (is_listed(policy_.mcp_env, name)) return "";
  return "is beyond the policy's bounds (" + policy_place(policy_, "bounds.mcp_env") + " is " +
         entries_text(policy_.mcp_env) + ")" + to_allow(policy_, "mcp_env", name);
}

std::string TaskGate::header(const std::string& name) const {
  if (!is_own_header(name)) return "";
  return "can't be set by the task: it carries a credential, an account, or what sortie itself "
         "writes";
}

}  // namespace sortie
