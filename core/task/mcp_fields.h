#pragma once

#include <vector>

#include "core/config/fields.h"
#include "core/json/json.h"
#include "core/task/mcp_server.h"

namespace sortie {

/// Reads `tools.mcp`: servers by name.
FieldValue mcp_servers_value(std::vector<TaskMcpServer>& target);

/// The effective servers, as task_json has them: an object that mcp_servers_value() reads.
Json mcp_servers_json(const std::vector<TaskMcpServer>& servers);

}  // namespace sortie
