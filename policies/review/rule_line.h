#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "policies/rules/action.h"
#include "policies/rules/policy.h"

namespace sortie {

class Engine;

/// The words by which a rule would name a command, no more of them than it takes to say what it
/// does: command and subcommand where the command is known to have some, the name alone where its
/// arguments make it no other command, else the whole argv.
struct CommandKey {
  std::vector<std::string> words;
  bool exact = true;  ///< the whole argv, and no other arguments: not a prefix
  bool operator==(const CommandKey&) const = default;
};

/// @return nothing where no rule should name the command: shells, wrappers, sudo, interpreters
///         that are given their program as text
std::optional<CommandKey> command_key(std::span<const std::string> argv);

/// The argv of each simple command of a shell string that the strict reader reads; nothing for
/// other commands and where it does not.
struct ScriptCommands {
  std::vector<std::vector<std::string>> commands;
  /// The words alone say what it does: no `cd`, no glob, no input from a file.
  bool plain = true;
};
std::optional<ScriptCommands> script_commands(const RunCommand& command, const Engine& engine);

/// What an approver's `always` holds for: an action is covered where all its keys are. They can't
/// widen: {"prefix":["cargo","test"]} for commands whose subcommand says what they do, else
/// {"argv":[…],"workdir":"…"}; {"tool":…}, {"read":…}, {"write":…}. For a script one for each
/// simple command that no rule allows by itself.
std::vector<Json> approval_keys(const Action& action, const Engine& engine);

class Engine;

/// The lines of a policy that would allow these actions, each denied for want of a rule, as a
/// value:
/// {"commands": [{"allow": ["cargo", "test"]}]}. Null where no line could or should.
/// @param engine  that denied them
Json lines_that_allow(const std::vector<Action>& actions, const Engine& engine);

/// Such lines as YAML, one a key, ready to be put into a policy file:
/// `commands: [{allow: [cargo, test]}]`; "" for null.
std::string rule_lines_yaml(const Json& lines);

/// Whether a policy file can hold these words: UTF-8, not empty, no control characters, also not
/// escaped ones.
bool can_be_written(const std::vector<std::string>& words);

/// A value in YAML's flow style, on one line; what could be read as anything but this text is
/// quoted.
std::string flow_yaml(const Json& value);

}  // namespace sortie
