#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/base/error.h"
#include "core/task/functions.h"

using namespace sortie;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Diagnostics findings;
  const std::size_t source =
      findings.add_source("functions.json", std::string(reinterpret_cast<const char*>(data), size));
  const auto functions = parse_functions(source, findings);
  if (!findings.empty()) return findings.render().empty() ? std::abort(), 1 : 0;
  if (functions.empty()) std::abort();
  for (const TaskFunction& function : functions) {
    Json arguments = Json::object();
    for (const auto& [name, of_argument] : function.parameters["properties"].members())
      arguments.set(name, Json::array({"-x", "$(y)"}));
    try {
      if (fill_argv(function.run, function.parameters, Json::object()).empty()) std::abort();
      if (fill_argv(function.run, function.parameters, arguments).empty()) std::abort();
    } catch (const ToolError&) {
    }
  }
  return 0;
}
