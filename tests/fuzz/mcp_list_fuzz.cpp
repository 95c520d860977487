#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.h"
#include "tools/mcp/servers.h"
#include "tools/mcp/tool_list.h"

namespace {

using namespace sortie;
using namespace sortie::mcp;

bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

// Whatever servers call their tools: each has a name of its own that every model takes.
void name_tools(const std::vector<Json>& listed) {
  std::vector<ToolIdentity> tools;
  const ToolList list = read_tools(listed, {});
  for (const char* server : {"a", "a-b"})
    for (const ServerTool& tool : list.tools) tools.push_back({server, tool.name});
  const std::vector<std::string> names = shown_names(tools);
  std::set<std::string> seen;
  for (const std::string& name : names) {
    const bool fits =
        name.size() <= kMostNameBytes && std::all_of(name.begin(), name.end(), is_name_letter);
    if (!fits || !seen.insert(name).second) std::abort();
  }
  std::vector<Json> turned(listed.rbegin(), listed.rend());
  if (pin_of(turned) != pin_of(listed)) std::abort();
}

}  // namespace

// {"tools": […], "result": {…}, "schema": {…}} as a server might send them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Json json;
  try {
    json = parse_json(std::string_view(reinterpret_cast<const char*>(data), size), 100);
  } catch (const JsonError&) {
    return 0;
  }
  std::vector<Json> listed;
  for (const Json& tool : json["tools"].items())
    if (tool.is_object() && !tool.string_at("name").empty()) listed.push_back(tool);
  name_tools(listed);
  if (json["result"].is_object() && read_call_result(json["result"], json["schema"]).text.empty())
    std::abort();
  return 0;
}
