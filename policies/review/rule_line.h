#pragma once

#include <string>
#include <vector>

#include "core/json/json.h"
#include "policies/rules/action.h"
#include "policies/rules/policy.h"

namespace sortie {

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
