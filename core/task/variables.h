#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/task/task.h"

namespace sortie {

/// What the workspace's repository says, or why it says nothing.
struct GitValue {
  std::string value;
  std::string problem{};  ///< for people; where the value is ""
};

/// Where the values of template variables come from.
struct VariableSources {
  std::map<std::string, std::string> flags;  ///< --var, --var-file
  /// Those of them that a file brought in: --var NAME@FILE, --var-file.
  std::set<std::string> from_files{};
  /// The environment, as far as the policy's bounds let a task read it.
  std::function<std::optional<std::string>(const std::string&)> environment;
  std::function<std::optional<std::string>()> standard_input;          ///< {{stdin}}; read once
  std::function<std::optional<std::string>(const std::string&)> file;  ///< {{file:PATH}}
  std::string date;                                                    ///< {{date}}: 2026-11-21
  std::string run_id;                                                  ///< {{run_id}}
  /// {{git.branch}} and {{git.sha}}; throw Error where the repository is damaged.
  std::function<GitValue()> git_branch;
  std::function<GitValue()> git_sha;
};

/// The prompts of a task as they are sent.
struct ExpandedPrompts {
  std::string prompt;               ///< "" where there are stages
  std::vector<std::string> stages;  ///< one a stage; "" for one that verifies
};

/// Replaces {{name}} in the task's prompt or in those of its stages. What comes in is data: put in
/// as it is, never expanded again; values from the environment, stdin and files are wrapped in
/// <untrusted name="…"> with a closing tag that the value can't forge, unless the variable is
/// trusted. `\{{` and `${{ … }}` are literal.
/// @throws InputError  unknown or missing variables, all at once, each with the place of its first
///                     use and the nearest name
/// @throws Error  a damaged repository that is asked, with that place
ExpandedPrompts expand_prompts(const Task& task, const VariableSources& sources);

/// Whether any of the prompts uses {{stdin}}.
bool uses_standard_input(const Task& task);

}  // namespace sortie
