#include "app/inputs/mcp_uses.h"

#include <utility>

#include "core/base/error.h"
#include "core/provider/sign_in/credentials.h"
#include "tools/mcp/transport/http_transport.h"

namespace sortie {

std::vector<std::string> mcp_token_variables(const Task& task) {
  std::vector<std::string> names;
  for (const TaskMcpServer& server : task.mcp)
    if (!server.bearer_token_env.empty()) names.push_back(server.bearer_token_env);
  return names;
}

std::vector<McpHostUse> mcp_host_uses(const Task& task, const Policy& policy) {
  std::vector<McpHostUse> uses;
  for (const TaskMcpServer& server : task.mcp) {
    if (server.url.empty()) continue;
    McpHostUse use{.server = server.name, .place = server.place};
    try {
      const Url url = mcp::parse_server_url(server.url);
      use.address = (url.secure ? "https://" : "http://") + url.authority();
      use.variable = server.bearer_token_env;
      use.token_may_go =
          use.variable.empty() || key_may_go(use.variable, {.base = url}, policy.credentials);
    } catch (const InputError& error) {
      throw InputError(server.place + ": error: the MCP server " + server.name + ": " +
                       error.what());
    }
    uses.push_back(std::move(use));
  }
  return uses;
}

}  // namespace sortie
