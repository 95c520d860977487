#include "core/agent/server_trouble.h"

namespace sortie {

std::string server_trouble(const Json& data) {
  const std::string server = "The MCP server " + data.string_at("server");
  const std::string state = data.string_at("state");
  const std::string detail = data.string_at("detail");
  const std::string why = detail.empty() ? "." : ": " + detail;
  if (state == "failed") return server + " can't be used" + why;
  if (state == "died") return server + " was lost" + why;
  if (state == "restarted") return server + " was started again.";
  return {};
}

}  // namespace sortie
