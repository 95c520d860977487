#include "policies/rules/planted_programs.h"

#include <algorithm>

#include "core/files/path_below.h"
#include "policies/shell/lookup.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// /root/…, /home/NAME/…: for an unknown HOME.
bool is_in_some_home(const fs::path& path) {
  const auto parts = std::distance(path.begin(), path.end());
  return is_below(path, "/root") || (is_below(path, "/home") && parts > 3);
}

/// The path of an entry of `paths`; "" for an unknown one.
fs::path place_of_entry(const std::string& entry, const fs::path& workspace, const fs::path& home) {
  if (entry == "~" || entry.starts_with("~/"))
    return home.empty() ? fs::path()
                        : (home / entry.substr(std::min<std::size_t>(2, entry.size())));
  return (workspace / entry).lexically_normal();
}

bool any_entry_holds(const std::vector<std::string>& entries, const fs::path& path,
                     const fs::path& workspace, const fs::path& home) {
  return std::any_of(entries.begin(), entries.end(), [&](const std::string& entry) {
    const fs::path place = place_of_entry(entry, workspace, home);
    return !place.empty() && is_below(path, place);
  });
}

}  // namespace

std::string why_planted(const std::string& word, const Policy& policy, const fs::path& workspace,
                        const fs::path& home) {
  if (!word.starts_with('/') || policy.sandbox == SandboxMode::none) return "";
  const fs::path path = fs::path(word).lexically_normal();
  if (is_below(path, workspace)) return "";
  if (policy.sandbox == SandboxMode::workspace_write &&
      any_entry_holds(policy.write, path, workspace, home))
    return "paths.write lets commands put a program there";
  if (any_entry_holds(policy.read, path, workspace, home)) return "";
  for (const char* folder : {"/tmp", "/var/tmp", "/dev/shm"})
    if (is_below(path, folder))
      return std::string(folder) +
             " is private to the run: only a command of the run can have put a program there";
  if (home.empty() || home == "/" ? is_in_some_home(path) : is_below(path, home))
    return "HOME is private to the run: only a command of the run can have put a program there";
  return "";
}

std::vector<CommandRule> rules_without_planted(const Policy& policy, const fs::path& workspace,
                                               const fs::path& home,
                                               std::span<const fs::path> folders) {
  std::vector<CommandRule> rules;
  for (CommandRule rule : policy.commands) {
    const bool by_words = rule.effect == Effect::allow && !rule.prefix.empty();
    if (by_words)
      std::erase_if(rule.prefix[0], [&](const std::string& word) {
        return command_name(word, folders).empty() &&
               !why_planted(word, policy, workspace, home).empty();
      });
    if (!by_words || !rule.prefix[0].empty()) rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace sortie
