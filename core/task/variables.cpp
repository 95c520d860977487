#include "core/task/variables.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/config/diagnostic.h"
#include "core/task/placeholders.h"
#include "core/text/text.h"
#include "core/text/untrusted.h"

namespace sortie {
namespace {

/// Finds the value of each placeholder, each source read at most once.
class Expansion {
 public:
  Expansion(const Task& task, const VariableSources& sources, Diagnostics& findings)
      : task_(task), sources_(sources), findings_(findings) {}

  /// The text to insert; "" after a finding.
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
      return of_source(
          name, sources_.file ? sources_.file(file) : std::nullopt,
          "file '" + one_line(file) + "' can't be read for {{" + one_line(name) + "}}");
    }
    if (name == "stdin")
      return of_source(name, sources_.standard_input ? sources_.standard_input() : std::nullopt,
                       "{{stdin}} is used, but nothing came on stdin");
    if (name == "date") return sources_.date;
    if (name == "run_id") return sources_.run_id;
    if (name == "git.branch") return of_git(name, sources_.git_branch);
    return of_git(name, sources_.git_sha);
  }

  std::string of_variable(const std::string& name, const TaskVariable& variable) {
    const auto flag = sources_.flags.find(name);
    if (flag != sources_.flags.end())
      return sources_.from_files.contains(name) ? of_outside(name, variable, flag->second)
                                                : flag->second;
    if (!variable.environment.empty() && sources_.environment) {
      if (const auto value = sources_.environment(variable.environment))
        return of_outside(name, variable, *value);
    }
    if (variable.has_default) return variable.default_value;
    if (!variable.required) return {};
    std::string advice = "give --var " + name + "=VALUE";
    if (!variable.environment.empty())
      advice += " or set " + variable.environment + " (if the policy's bounds.vars_env allows it)";
    return missing(name, "variable '" + name + "' is required and has no value; " + advice);
  }

  /// Adds a finding at the first use of a variable without a value.
  std::string missing(const std::string& name, std::string problem) {
    const auto use = task_.uses.find(name);
    TextPlace place;
    if (use != task_.uses.end())
      place = {.source = findings_.add_source(use->second.file, ""),
               .line = use->second.line,
               .column = use->second.column};
    findings_.error(place, std::move(problem));
    return {};
  }

  static std::string of_outside(const std::string& name, const TaskVariable& variable,
                                const std::string& value) {
    return variable.trusted ? repair_utf8(value) : untrusted(name, value);
  }

  std::string of_source(const std::string& name, const std::optional<std::string>& value,
                        const std::string& problem) {
    return value ? untrusted(name, *value) : missing(name, problem);
  }

  std::string of_git(const std::string& name, const std::function<GitValue()>& source) {
    const std::string problem = "{{" + name + "}} has no value: ";
    try {
      const GitValue found =
          source ? source() : GitValue{.value = {}, .problem = "git is not available"};
      if (found.value.empty()) return missing(name, problem + found.problem);
      const std::string value = one_line(found.value, 1024);
      return found.from_outside ? untrusted(name, value) : value;
    } catch (const Error& error) {
      const auto use = task_.uses.find(name);
      if (use == task_.uses.end()) throw;
      const PlaceholderUse& at = use->second;
      throw Error(at.file + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) +
                      ": error: " + problem + error.what(),
                  error.code());
    }
  }

  const Task& task_;
  const VariableSources& sources_;
  Diagnostics& findings_;
  std::map<std::string, std::string> values_;
};

/// Finds --var for names that the task does not declare.
void check_flags(const Task& task, const VariableSources& sources, Diagnostics& findings) {
  std::vector<std::string> names;
  for (const auto& [name, variable] : task.vars) names.push_back(name);
  for (const auto& [name, value] : sources.flags)
    if (!task.vars.contains(name))
      findings.error({}, "--var: the task declares no variable '" + one_line(name, 60) + "'",
                     nearest_name(name, names));
}

/// All prompts of the task, in the order in which they are sent.
std::vector<const std::string*> prompts_of(const Task& task) {
  std::vector<const std::string*> prompts = {&task.prompt};
  for (const TaskStage& stage : task.stages) prompts.push_back(&stage.prompt);
  return prompts;
}

}  // namespace

ExpandedPrompts expand_prompts(const Task& task, const VariableSources& sources) {
  Diagnostics findings;
  findings.add_source(task.file.empty() ? "" : task.file.filename().string(), "");
  check_flags(task, sources, findings);
  for (const std::string* prompt : prompts_of(task))
    for (auto& problem : check_placeholders(*prompt, task.vars))
      findings.error({}, std::move(problem.message), std::move(problem.nearest));
  findings.throw_if_any();

  Expansion expansion(task, sources, findings);
  for (const auto& [name, variable] : task.vars)
    if (variable.required) expansion.value(name);
  const auto expanded = [&](const std::string& prompt) {
    std::string text;
    for (const auto& part : split_prompt(prompt))
      text += part.kind == PromptPart::Kind::variable ? expansion.value(part.text) : part.text;
    return text;
  };
  ExpandedPrompts prompts;
  prompts.prompt = expanded(task.prompt);
  for (const TaskStage& stage : task.stages) prompts.stages.push_back(expanded(stage.prompt));
  findings.throw_if_any();
  return prompts;
}

bool uses_standard_input(const Task& task) {
  const auto uses = [](const std::string* prompt) {
    const auto parts = split_prompt(*prompt);
    return std::any_of(parts.begin(), parts.end(), [](const PromptPart& part) {
      return part.kind == PromptPart::Kind::variable && part.text == "stdin";
    });
  };
  const auto prompts = prompts_of(task);
  return std::any_of(prompts.begin(), prompts.end(), uses);
}

}  // namespace sortie
