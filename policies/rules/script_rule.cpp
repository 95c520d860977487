#include "policies/rules/script_rule.h"

#include "core/files/path_below.h"

namespace sortie {
namespace fs = std::filesystem;

std::optional<ScriptRule::Match> ScriptRule::match(std::span<const std::string> argv,
                                                   const CommandPlace& place) const {
  if (argv.empty() || argv[0].find('/') == std::string::npos || argv[0].back() == '/') return {};
  const fs::path named = place.workdir / argv[0];
  const auto relative = path_below(named.lexically_normal(), place.workspace);
  if (!relative || *relative == "." || !glob_.matches(relative->string())) return {};
  if (place.scripts == nullptr || !*place.scripts) return Match{};
  ScriptFile file = (*place.scripts)(named);
  // The path matches as text; a link on the way may lead to a script that no rule names.
  if (file.problem.empty() && !glob_.matches(file.path.string()))
    file.problem = "a link leads to " + file.path.string() + ", which the rule does not match";
  return Match{std::move(file.problem)};
}

}  // namespace sortie
