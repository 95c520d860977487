#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/record/events.h"

namespace sortie {

/// What a call would do, on one line: its commands, paths, or input; "" if its actions say nothing
/// but the tool's own name.
std::string words_of_actions(const std::vector<RecordedAction>& actions, const std::string& tool);
/// The first line of a command, for people: "set -e … 2 more lines".
std::string words_of_command(std::string_view command);
/// "exit 1", "signal 9", "timed out"; "failed" without a command; "" for a success; "exit code
/// unknown" for a code that there can't be.
std::string words_of_ending(const std::optional<ExitStatus>& exit, bool success);
/// "policy.yaml:12: deny: [git push]"; "" without a rule.
std::string words_of_rule(const std::optional<RecordedRule>& rule);
/// "1.3 s", "2 min 5 s"; "unknown" below 0
std::string words_of_time(std::chrono::milliseconds time);
/// The same beside other values: "time unknown" below 0.
std::string words_of_duration(std::chrono::milliseconds time);

}  // namespace sortie
