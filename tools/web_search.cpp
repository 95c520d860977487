#include "tools/web_search.h"

#include "core/base/error.h"

namespace sortie {

WebSearch::WebSearch() {
  spec_.name = "web_search";
  spec_.description = "Searches the web. The provider runs it by itself.";
  spec_.parameters = parse_json(R"({"type": "object", "properties": {}})");
  spec_.form = ToolCall::Form::web_search;
}

std::vector<Action> WebSearch::actions(const Json&) const { return {}; }

ToolResult WebSearch::run(const Json&, std::stop_token) {
  throw ToolError("web_search is run by the provider itself; it can't be called as a function");
}

}  // namespace sortie
