#include "app/named_files.h"

#include <cstdlib>
#include <system_error>
#include <utility>

#include "app/confinement.h"
#include "policies/path_rules.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// Where a path leads; empty where that can't be told (a loop, a folder that can't be searched).
fs::path resolved(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  return error ? fs::path() : real;
}

bool is_in(const fs::path& real, const fs::path& folder) {
  const fs::path place = resolved(folder);
  return !place.empty() && is_within(real, place);
}

}  // namespace

NamedFiles::NamedFiles(const Policy& policy, fs::path workspace)
    : policy_(policy), workspace_(std::move(workspace)) {
  const char* home = std::getenv("HOME");
  if (home != nullptr) home_ = home;
}

std::string NamedFiles::problem(const fs::path& file, const std::vector<fs::path>& own) const {
  const fs::path real = resolved(file);
  if (real.empty()) return "where it leads can't be told";
  bool named = false;
  for (const auto& folder : own) named = named || is_in(real, folder);
  for (const auto& folder : policy_.read) {
    const bool of_home = folder == "~" || folder.starts_with("~/");
    if (of_home && home_.empty()) continue;
    named = named || is_in(real, of_home ? home_ / fs::path(folder).lexically_relative("~")
                                         : workspace_ / folder);
  }
  if (!named && own.empty()) return "the policy's paths.read does not have it";
  if (!named)
    return "it leads out of the task's folder and of the workspace, and the policy's paths.read "
           "does not have it";
  const PathRules rules(policy_,
                        {.workspace = workspace_, .out = {}, .protected_files = {}, .home = home_});
  // By the name that was given too: a link `.env` is as hidden as what it leads to.
  if (rules.is_hidden(real) || rules.is_hidden(file)) return "the policy's paths.hide hides it";
  return "";
}

}  // namespace sortie
