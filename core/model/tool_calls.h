#pragma once

#include <optional>
#include <set>
#include <string>

#include "core/model/model.h"

namespace sortie {

/// A usable call, or why it can't be used, worded for the model.
struct CallReading {
  std::optional<ToolCall> call{};
  std::string finding{};
};

/// Checks the calls of one response, for every wire. A call without id or name gives a finding;
/// nothing is ignored silently. The arguments are checked by the tool: they may not be JSON.
class CallReader {
 public:
  /// @param free_text  free_text_functions()
  explicit CallReader(std::set<std::string> free_text = {}) : free_text_(std::move(free_text)) {}
  /// Converts a call of a free-text tool declared as a function to form custom, if its arguments
  /// are `{"input": TEXT}`.
  CallReading read(ToolCall call);

 private:
  std::set<std::string> free_text_;
  std::set<std::string> call_ids_;
};

/// Gives the call of a response another id, in its item and in the wire's own JSON.
/// @param index  of the item
void rename_call(Response& response, std::size_t index, const std::string& call_id);

/// "Your call of the tool 'x' was not run: WHY Send the call again, corrected."
std::string not_run(const std::string& name, const std::string& why);

/// The names of the free-text tools, for wires and models that get them as functions.
std::set<std::string> free_text_functions(const ModelSettings& settings);

/// The parameters of a free-text tool declared as a function: one argument, `input`.
Json free_text_parameters(const ToolSpec& tool);

/// The call's arguments as JSON text of an object, as providers require; anything else becomes
/// {"input": TEXT}.
std::string object_arguments(const ToolCall& call);

}  // namespace sortie
