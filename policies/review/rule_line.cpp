#include "policies/review/rule_line.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/files/path_below.h"
#include "core/text/text.h"
#include "policies/engine/engine.h"
#include "policies/review/rule_key.h"

namespace sortie {
namespace {

constexpr std::array<std::string_view, 11> kSpecialWords = {
    "null", "true", "false", "yes", "no", "on", "off", "y", "n", ".", ".."};

bool is_plain_yaml(std::string_view text) {
  if (text.empty() || text == "-") return false;
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (std::find(kSpecialWords.begin(), kSpecialWords.end(), lower) != kSpecialWords.end())
    return false;
  const bool digit_first =
      (text.front() >= '0' && text.front() <= '9') || text.front() == '+' || text.starts_with(".");
  if (digit_first && text.find('/') == std::string_view::npos) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_./+-").find(c) != std::string_view::npos;
  });
}

void append_flow(const Json& value, std::string& to) {
  if (value.is_array()) {
    to += '[';
    for (std::size_t i = 0; i < value.items().size(); ++i) {
      if (i > 0) to += ", ";
      append_flow(value.items()[i], to);
    }
    to += ']';
  } else if (value.is_object()) {
    to += '{';
    for (std::size_t i = 0; i < value.members().size(); ++i) {
      if (i > 0) to += ", ";
      append_flow(Json(value.members()[i].first), to);
      to += ": ";
      append_flow(value.members()[i].second, to);
    }
    to += '}';
  } else if (value.is_string() && is_plain_yaml(value.text())) {
    to += value.text();
  } else {
    write_json(value, to);  // a JSON string is a double-quoted YAML one
  }
}

/// Collects the lines by key, each entry once.
class Lines {
 public:
  explicit Lines(const Engine& engine) : engine_(engine) {}

  bool add(const Action& action) {
    if (const auto* command = std::get_if<RunCommand>(&action)) return add_command(*command);
    if (const auto* read = std::get_if<ReadPath>(&action))
      return add_path("read", engine_.policy().read, written(read->path));
    if (const auto* write = std::get_if<WritePath>(&action))
      return add_path("write", engine_.policy().write, written(write->path));
    const std::string& tool = std::get<CallTool>(action).name;
    if (!can_be_written({tool}) || tool.find_first_of("*?[\\") != std::string::npos) return false;
    add_rule(tools_, Json::array({tool}));
    return true;
  }

  Json lines() const {
    Json json = Json::object();
    if (!commands_.items().empty()) json.set("commands", commands_);
    if (!tools_.items().empty()) json.set("tools", tools_);
    if (!paths_.members().empty()) json.set("paths", paths_);
    return json.members().empty() ? Json() : json;
  }

 private:
  static void add_rule(Json& rules, Json names) {
    Json rule = Json::object({{"allow", std::move(names)}});
    const auto& items = rules.items();
    if (std::find(items.begin(), items.end(), rule) == items.end())
      rules.push_back(std::move(rule));
  }

  bool add_argv(const std::vector<std::string>& argv) {
    const auto key = command_key(argv);
    if (!key || !can_be_written(key->words)) return false;
    Json words = Json::array();
    for (const std::string& word : key->words) words.push_back(word);
    add_rule(commands_, std::move(words));
    return true;
  }

  bool add_command(const RunCommand& command) {
    if (command.input) return false;  // no rule is about what is typed
    const auto script = script_commands(command, engine_);
    if (!script) return add_argv(command.argv);
    bool any = false;
    for (const auto& argv : script->commands) {
      const Decision alone = engine_.decide(RunCommand{.argv = argv, .workdir = command.workdir});
      const bool allowed = alone.effect == Effect::allow && !alone.audited;
      if (allowed || argv.front() == "cd") continue;
      if (!alone.unmatched || !add_argv(argv)) return false;
      any = true;
    }
    return any;
  }

  /// A list of paths takes the place of the default, so that it has to hold what it held.
  bool add_path(const char* list, const std::vector<std::string>& held, const std::string& path) {
    if (!can_be_written({path}) || path.find_first_of("*?[\\") != std::string::npos) return false;
    if (paths_.find(list) == nullptr) paths_.set(list, Json::array());
    Json& paths = *paths_.find(list);
    for (const std::string& one : held) add_text(paths, one);
    add_text(paths, path);
    return true;
  }

  /// As a policy names it: relative inside the workspace, absolute elsewhere.
  std::string written(const std::filesystem::path& path) const {
    const auto whole = (engine_.workspace() / path).lexically_normal();
    return path_below(whole, engine_.workspace()).value_or(whole).string();
  }

  static void add_text(Json& texts, const std::string& text) {
    const auto& items = texts.items();
    if (std::find(items.begin(), items.end(), Json(text)) == items.end()) texts.push_back(text);
  }

  const Engine& engine_;
  Json commands_ = Json::array();
  Json tools_ = Json::array();
  Json paths_ = Json::object();
};

}  // namespace

bool can_be_written(const std::vector<std::string>& words) {
  return std::all_of(words.begin(), words.end(), [](const std::string& word) {
    return !word.empty() && word.size() <= 4096 && is_utf8(word) &&
           std::none_of(word.begin(), word.end(),
                        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  });
}

Json lines_that_allow(const std::vector<Action>& actions, const Engine& engine) {
  Lines lines(engine);
  for (const Action& action : actions)
    if (!lines.add(action)) return {};
  return lines.lines();
}

std::string flow_yaml(const Json& value) {
  std::string text;
  append_flow(value, text);
  return text;
}

std::string rule_lines_yaml(const Json& lines) {
  std::string text;
  for (const auto& [key, value] : lines.members())
    text += (text.empty() ? "" : "\n") + key + ": " + flow_yaml(value);
  return text;
}

}  // namespace sortie
