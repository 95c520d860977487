#pragma once

#include <vector>

#include "core/config/fields.h"
#include "core/task/task.h"

namespace sortie {

/// The task's `tools.mcp`: servers by name.
FieldValue mcp_servers_value(std::vector<TaskMcpServer>& target);

}  // namespace sortie
