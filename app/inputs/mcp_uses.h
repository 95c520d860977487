#pragma once

#include <string>
#include <vector>

#include "core/task/task.h"
#include "policies/bounds/bounds.h"
#include "policies/rules/policy.h"

namespace sortie {

/// The variables that hold tokens of the task's MCP servers: no command gets them.
std::vector<std::string> mcp_token_variables(const Task& task);

/// What the task's servers with a url ask of the policy's bounds.
/// @throws InputError  an address that is none
std::vector<McpHostUse> mcp_host_uses(const Task& task, const Policy& policy);

}  // namespace sortie
