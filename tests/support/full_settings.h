#pragma once

#include <string>
#include <utility>

#include "core/json/json.h"
#include "core/model/model.h"

namespace sortie::test {

/// Settings with a value for everything that the wires send.
inline ModelSettings full_settings(std::string model) {
  ModelSettings settings{.model = std::move(model), .instructions = "Be brief."};
  settings.tools = {
      {.name = "shell",
       .description = "Runs a command.",
       .parameters = parse_json(R"({"type":"object","properties":{"command":{}}})")},
      {.name = "apply_patch",
       .description = "Changes files.",
       .form = ToolCall::Form::custom,
       .grammar = "start: \"*** Begin Patch\""},
      {.name = "web_search", .description = "Searches.", .form = ToolCall::Form::web_search},
      {.name = "plain", .description = "No arguments."}};
  settings.effort = "medium";
  settings.temperature = 0.2;
  settings.run_id = "0199-run";
  return settings;
}

}  // namespace sortie::test
