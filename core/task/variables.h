#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/task/task.h"

namespace sortie {

/// A value from the workspace's repository, or why there is none.
struct GitValue {
  std::string value;
  std::string problem{};      ///< for people, if the value is ""
  bool from_outside = false;  ///< from the environment: inserted as untrusted
};

/// The sources of template variables.
struct VariableSources {
  std::map<std::string, std::string> flags;  ///< --var, --var-file
  /// Names of those that came from a file: --var NAME@FILE, --var-file.
  std::set<std::string> from_files{};
  /// The environment, as far as the policy's bounds allow a task to read it.
  std::function<std::optional<std::string>(const std::string&)> environment;
  std::function<std::optional<std::string>()> standard_input;          ///< {{stdin}}; read once
  std::function<std::optional<std::string>(const std::string&)> file;  ///< {{file:PATH}}
  std::string date;                                                    ///< {{date}}: 2026-11-21
  std::string run_id;                                                  ///< {{run_id}}
  /// {{git.branch}} and {{git.sha}}; throw Error if the repository is damaged.
  std::function<GitValue()> git_branch;
  std::function<GitValue()> git_sha;
};

/// The prompts of a task as they are sent.
struct ExpandedPrompts {
  std::string prompt;               ///< "" if there are stages
  std::vector<std::string> stages;  ///< one for each stage; "" for one that verifies
};

/// Replaces {{name}} in the task's prompt or in those of its stages. Values are data: inserted as
/// they are, never expanded again; those from the environment, stdin and files are wrapped in
/// <untrusted name="…"> with a closing tag that the value can't forge, unless the variable is
/// trusted. `\{{` and `${{ … }}` are literal.
/// @throws InputError  unknown or missing variables, all at once, each with the place of its first
///                     use and the nearest name
/// @throws Error  the repository is needed and damaged; with that place
ExpandedPrompts expand_prompts(const Task& task, const VariableSources& sources);

/// Whether any of the prompts uses {{stdin}}.
bool uses_standard_input(const Task& task);

}  // namespace sortie
