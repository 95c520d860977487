#include <string_view>
#include <utility>

#include "core/task/task_fields.h"

namespace sortie {
namespace {

/// Whether there is a "{a,b}": git would look for these very characters.
bool has_alternatives(std::string_view pattern) {
  bool open = false;
  bool comma = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\') {
      ++i;
    } else if (c == '{') {
      open = true;
      comma = false;
    } else if (c == ',') {
      comma = open;
    } else if (c == '}' && open && comma) {
      return true;
    }
  }
  return false;
}

/// Why a pattern would match nothing of what it is meant to, or "".
std::string pattern_problem(std::string_view pattern) {
  if (pattern.starts_with(':'))
    return "git's magic (':(glob)') is not known; write the pattern alone";
  if (has_alternatives(pattern))
    return "git's patterns have no alternatives in braces; write an entry for each";
  if (pattern.starts_with('!')) pattern.remove_prefix(1);
  for (std::string_view rest = pattern;;) {
    const auto end = rest.find('/');
    if (rest.substr(0, end) == "..") return "it leads out of the workspace";
    if (end == rest.npos) return "";
    rest.remove_prefix(end + 1);
  }
}

}  // namespace

FieldValue git_patterns_value(std::vector<std::string>& target) {
  FieldValue value = texts_value(target);
  value.read = [read = std::move(value.read)](const YamlNode& node, const std::string& name,
                                              Diagnostics& findings) {
    read(node, name, findings);
    for (const auto& item : node.items)
      if (const std::string problem = pattern_problem(item.text); !problem.empty())
        findings.error(item.place,
                       "'" + name + "': '" + item.text + "' would match nothing: " + problem);
  };
  return value;
}

}  // namespace sortie
