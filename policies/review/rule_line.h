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

/// The shortest words of a command that show what it does, for a rule: command and subcommand if
/// the command is known to have some, the name alone if its arguments don't matter, else the whole
/// argv.
struct CommandKey {
  std::vector<std::string> words;
  bool exact = true;  ///< the whole argv without further arguments, not a prefix
  bool operator==(const CommandKey&) const = default;
};

/// @return  nothing if no rule should name the command: shells, wrappers, sudo, interpreters that
///          get their program as text
std::optional<CommandKey> command_key(std::span<const std::string> argv);

/// The argv of each simple command of a shell script; nothing for other commands, and for scripts
/// that the strict reader refuses.
struct ScriptCommands {
  std::vector<std::vector<std::string>> commands;
  /// The words fully show what it does: no `cd`, no glob, no variable set, no input of its own.
  bool plain = true;
};
std::optional<ScriptCommands> script_commands(const RunCommand& command, const Engine& engine);

/// The keys under which an approver's `always` is remembered: an action is covered if all its keys
/// are. {"prefix":["cargo","test"]} for commands whose subcommand shows what they do, else
/// {"argv":[…],"workdir":"…"}; {"tool":…}, {"read":…}, {"write":…}. A script has one key for each
/// simple command that no rule allows.
std::vector<Json> approval_keys(const Action& action, const Engine& engine);

/// The lines of a policy that would allow these actions, which no rule matched, as a value:
/// {"commands": [{"allow": ["cargo", "test"]}]}. Null if no line could or should.
/// @param engine  the one that denied them
Json lines_that_allow(const std::vector<Action>& actions, const Engine& engine);

/// Whether these words can be written in a policy file: UTF-8, not empty, no control characters,
/// not even escaped ones.
bool can_be_written(const std::vector<std::string>& words);

}  // namespace sortie
