#include "policies/rules/compiled_rule.h"

#include "policies/rules/read_only_commands.h"

namespace sortie {

bool matches_class(const CommandRule& rule, std::span<const std::string> argv,
                   const CommandPlace& place) {
  if (rule.command_class != "read-only") return false;
  const std::string_view name = command_name(argv[0], place.folders);
  if (name.empty()) return false;
  std::vector<std::string> named(argv.begin(), argv.end());
  named[0] = name;
  return !why_not_read_only(named, place.workspace, place.workdir);
}

}  // namespace sortie
