#include "tools/argument_slips.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "core/text/text.h"

namespace sortie {
namespace {

using Type = Json::Type;

/// What other tools call a property of ours.
const std::map<std::string_view, std::vector<std::string_view>>& synonyms() {
  static const std::map<std::string_view, std::vector<std::string_view>> table = {
      {"path",
       {"file_path", "filepath", "filePath", "file", "filename", "file_name", "target_file",
        "relative_path", "image_path", "dir", "directory", "folder", "dir_path", "directory_path",
        "absolute_path", "relative_workspace_path"}},
      {"input", {"patch", "diff", "patch_text", "patchText"}},
      {"pattern", {"query", "regex", "search", "search_term", "regexp"}},
      {"command", {"cmd", "script", "argv", "commands"}},
      {"cmd", {"command", "script"}},
      {"chars", {"input", "text", "data", "keys", "characters"}},
      {"session_id", {"id", "session", "sessionId"}},
      {"workdir", {"cwd", "working_directory", "workingDirectory", "dir", "directory"}},
      {"timeout_ms", {"timeout", "timeoutMs", "timeout_milliseconds"}},
      {"yield_time_ms", {"yield_time", "wait_ms"}},
      {"offset", {"start_line", "startLine", "line_start", "start", "from_line"}},
      {"limit", {"max_lines", "num_lines", "line_count", "count"}},
      {"glob", {"include", "file_pattern", "includePattern"}},
      {"context", {"context_lines"}},
      {"max_matches", {"max_results", "maxResults"}},
      {"plan", {"steps", "todos", "items"}},
  };
  return table;
}

std::set<Type> types_of(const Json& schema) {
  static const std::map<std::string_view, Type> names = {
      {"null", Type::null},      {"boolean", Type::boolean}, {"number", Type::number},
      {"integer", Type::number}, {"string", Type::string},   {"array", Type::array},
      {"object", Type::object}};
  std::set<Type> types;
  const auto add = [&](const Json& type) {
    if (const auto found = names.find(type.text()); found != names.end())
      types.insert(found->second);
  };
  add(schema["type"]);
  for (const Json& one : schema["type"].items()) add(one);
  for (const char* choice : {"anyOf", "oneOf"})
    for (const Json& one : schema[choice].items()) types.merge(types_of(one));
  return types;
}

/// JSON of one of the types, which a text spells.
std::optional<Json> spelled(const std::string& text, const std::set<Type>& types) {
  const std::string_view words = trimmed(text);
  if (types.contains(Type::boolean) && (words == "true" || words == "True")) return Json(true);
  if (types.contains(Type::boolean) && (words == "false" || words == "False")) return Json(false);
  try {
    Json value = parse_json(words);
    const bool fits = value.type() != Type::string && value.type() != Type::null &&
                      value.type() != Type::boolean && types.contains(value.type());
    if (fits) return value;
  } catch (const JsonError&) {
  }
  return std::nullopt;
}

bool is_array_of_strings(const Json& value) {
  const auto& items = value.items();
  return value.is_array() && !items.empty() &&
         std::all_of(items.begin(), items.end(), [](const Json& one) { return one.is_string(); });
}

const char* type_name(Type type) {
  switch (type) {
    case Type::boolean:
      return "a boolean";
    case Type::number:
      return "a number";
    case Type::array:
      return "an array";
    case Type::object:
      return "an object";
    default:
      return "text";
  }
}

/// The value as it was meant; nothing if it may stay.
std::optional<Json> meant(const Json& value, const std::set<Type>& types) {
  const bool fits = types.empty() || types.contains(value.type());
  if (value.is_string() && fits && types.contains(Type::array)) {
    auto list = spelled(value.text(), {Type::array});
    if (list && is_array_of_strings(*list)) return list;
  }
  if (fits) return std::nullopt;
  if (value.is_string()) return spelled(value.text(), types);
  if (value.is_number() && types.contains(Type::string)) return Json(value.text());
  return std::nullopt;
}

}  // namespace

std::vector<std::string> correct_names(Json& arguments, const Json& parameters) {
  std::vector<std::string> corrected;
  const Json& properties = parameters["properties"];
  for (auto& member : arguments.members()) {
    if (properties.find(member.first) != nullptr) continue;
    std::vector<std::string> wanted;
    for (const auto& [name, others] : synonyms()) {
      if (properties.find(name) != nullptr && arguments.find(name) == nullptr &&
          std::find(others.begin(), others.end(), member.first) != others.end())
        wanted.emplace_back(name);
    }
    if (wanted.size() != 1) continue;
    corrected.push_back(one_line(member.first, 60) + " was taken as " + wanted[0]);
    member.first = wanted[0];
  }
  return corrected;
}

std::vector<std::string> correct_values(Json& arguments, const Json& parameters) {
  std::vector<std::string> corrected;
  const Json& properties = parameters["properties"];
  const std::vector<std::string> required = parameters["required"].texts();
  std::erase_if(arguments.members(), [&](const Json::Member& member) {
    const Json* property = properties.find(member.first);
    if (!member.second.is_null() || property == nullptr) return false;
    const std::set<Type> types = types_of(*property);
    if (types.empty() || types.contains(Type::null) || is_one_of(member.first, required))
      return false;
    corrected.push_back("null for " + member.first + " was taken as absent");
    return true;
  });
  for (auto& [name, value] : arguments.members()) {
    const Json* property = properties.find(name);
    if (property == nullptr) continue;
    auto instead = meant(value, types_of(*property));
    if (!instead) continue;
    value = std::move(*instead);
    corrected.push_back(one_line(name, 60) + " was taken as " + type_name(value.type()));
  }
  return corrected;
}

}  // namespace sortie
