#include "core/task/variables.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/base/diagnostic.h"
#include "core/base/text.h"
#include "core/task/placeholders.h"

namespace sortie {
namespace {

constexpr std::string_view kTag = "untrusted";

/// Whether the text behind a '<' reads as the tag's name, as loosely as a model might read it.
bool reads_as_tag(std::string_view text) noexcept {
  const std::size_t name = text.find_first_not_of(" \t\r\n/");
  if (name == std::string_view::npos) return false;
  text = text.substr(name, kTag.size());
  return std::equal(text.begin(), text.end(), kTag.begin(), kTag.end(), [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == b;
  });
}

std::string attribute(std::string_view text) {
  std::string escaped;
  for (const char c : one_line(text)) {
    if (c == '"')
      escaped += "&quot;";
    else if (c == '<')
      escaped += "&lt;";
    else if (c == '&')
      escaped += "&amp;";
    else
      escaped += c;
  }
  return escaped;
}

/// The value between tags that it can't close: each '<' before the tag's name becomes "&lt;".
std::string wrapped(std::string_view name, std::string_view value) {
  const std::string text = repair_utf8(value);
  std::string out = "<untrusted name=\"" + attribute(name) + "\">";
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<' && reads_as_tag(std::string_view(text).substr(i + 1)))
      out += "&lt;";
    else
      out += text[i];
  }
  return out + "</untrusted>";
}

/// Finds the value of each placeholder, each source read at most once.
class Expansion {
 public:
  Expansion(const Task& task, const VariableSources& sources, Diagnostics& findings)
      : task_(task), sources_(sources), findings_(findings) {}

  /// The text to put in; a finding and nothing where there is none.
  const std::string& value(const std::string& name) {
    const auto known = values_.find(name);
    if (known != values_.end()) return known->second;
    return values_.emplace(name, look_up(name)).first->second;
  }

 private:
  std::string look_up(const std::string& name) {
    const auto variable = task_.vars.find(name);
    if (variable != task_.vars.end()) return of_variable(name, variable->second);
    if (const auto path = file_of_placeholder(name); !path.empty()) {
      const std::string file(path);
      return untrusted(
          name, sources_.file ? sources_.file(file) : std::nullopt,
          "file '" + one_line(file) + "' can't be read for {{" + one_line(name) + "}}");
    }
    if (name == "stdin")
      return untrusted(name, sources_.standard_input ? sources_.standard_input() : std::nullopt,
                       "{{stdin}} is used, but nothing came on stdin");
    if (name == "date") return sources_.date;
    if (name == "run_id") return sources_.run_id;
    if (name == "git.branch") return of_git(name, sources_.git_branch);
    return of_git(name, sources_.git_sha);
  }

  std::string of_variable(const std::string& name, const TaskVariable& variable) {
    const auto flag = sources_.flags.find(name);
    if (flag != sources_.flags.end()) return flag->second;
    if (!variable.environment.empty() && sources_.environment) {
      if (const auto value = sources_.environment(variable.environment))
        return variable.trusted ? repair_utf8(*value) : wrapped(name, *value);
    }
    if (variable.has_default) return variable.default_value;
    if (!variable.required) return {};
    std::string advice = "give --var " + name + "=VALUE";
    if (!variable.environment.empty())
      advice += " or set " + variable.environment + " (where the policy's bounds.vars_env lets it)";
    findings_.error({}, "variable '" + name + "' is required and has no value; " + advice);
    return {};
  }

  std::string untrusted(const std::string& name, const std::optional<std::string>& value,
                        const std::string& problem) {
    if (value) return wrapped(name, *value);
    findings_.error({}, problem);
    return {};
  }

  std::string of_git(const std::string& name, const std::function<std::string()>& source) {
    const std::string value = source ? source() : "";
    if (value.empty())
      findings_.error({}, "{{" + name +
                              "}} has no value: the workspace is no git tree, or its "
                              "state has none");
    return one_line(value, 1024);
  }

  const Task& task_;
  const VariableSources& sources_;
  Diagnostics& findings_;
  std::map<std::string, std::string> values_;
};

/// --var for names that the task does not declare.
void check_flags(const Task& task, const VariableSources& sources, Diagnostics& findings) {
  std::vector<std::string> names;
  for (const auto& [name, variable] : task.vars) names.push_back(name);
  for (const auto& [name, value] : sources.flags)
    if (!task.vars.contains(name))
      findings.error({}, "--var: the task declares no variable '" + one_line(name, 60) + "'",
                     nearest_name(name, names));
}

}  // namespace

std::string expand_prompt(const Task& task, const VariableSources& sources) {
  Diagnostics findings;
  findings.add_source(task.file.empty() ? "" : task.file.filename().string(), "");
  check_flags(task, sources, findings);
  for (auto& problem : check_placeholders(task.prompt, task.vars))
    findings.error({}, std::move(problem.message), std::move(problem.nearest));
  findings.throw_if_any();

  Expansion expansion(task, sources, findings);
  for (const auto& [name, variable] : task.vars)
    if (variable.required) expansion.value(name);
  std::string text;
  for (const auto& part : split_prompt(task.prompt))
    text += part.kind == PromptPart::Kind::variable ? expansion.value(part.text) : part.text;
  findings.throw_if_any();
  return text;
}

bool uses_standard_input(const Task& task) {
  const auto parts = split_prompt(task.prompt);
  return std::any_of(parts.begin(), parts.end(), [](const PromptPart& part) {
    return part.kind == PromptPart::Kind::variable && part.text == "stdin";
  });
}

}  // namespace sortie
