#include "policies/rules/script_rule.h"

#include <algorithm>

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// The path relative to the folder; empty where it lies outside. Both absolute and normal.
fs::path below(const fs::path& path, const fs::path& folder) {
  const auto [rest, at] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  if (rest != folder.end() && !rest->empty()) return {};
  fs::path relative;
  for (auto part = at; part != path.end(); ++part) relative /= *part;
  return relative;
}

}  // namespace

std::optional<ScriptRule::Match> ScriptRule::match(std::span<const std::string> argv,
                                                   const CommandPlace& place) const {
  if (argv.empty() || argv[0].find('/') == std::string::npos || argv[0].back() == '/') return {};
  const fs::path named = place.workdir / argv[0];
  const fs::path relative = below(named.lexically_normal(), place.workspace);
  if (relative.empty() || !glob_.matches(relative.string())) return {};
  if (place.scripts == nullptr || !*place.scripts) return Match{};
  ScriptFile file = (*place.scripts)(named);
  // By words alone the path fits; a link on the way may lead to a script that no rule names.
  if (file.problem.empty() && !glob_.matches(file.path.string()))
    file.problem = "a link leads to " + file.path.string() + ", which the rule does not match";
  return Match{std::move(file.problem)};
}

}  // namespace sortie
