#pragma once

#include <optional>
#include <set>
#include <string>

#include "core/model/model.h"

namespace sortie {

/// A call that can be answered, or why it can't, worded for the model.
struct CallReading {
  std::optional<ToolCall> call{};
  std::string finding{};
};

/// Judges the calls of one response, for every wire: nothing is taken for a call that lacks its id
/// or its name, and nothing is passed over in silence. Whether its arguments can be used is for who
/// is called to say: they may be no JSON.
class CallReader {
 public:
  /// @param free_text  of free_text_functions()
  explicit CallReader(std::set<std::string> free_text = {}) : free_text_(std::move(free_text)) {}
  /// A call of a free-text tool that was declared as a function is one of form custom from here on
  /// where its arguments are `{"input": TEXT}`.
  CallReading read(ToolCall call);

 private:
  std::set<std::string> free_text_;
  std::set<std::string> call_ids_;
};

/// "Your call of the tool 'x' was not run: WHY Send the call again, corrected."
std::string not_run(const std::string& name, const std::string& why);

/// The names of the free-text tools that are declared as functions, where the wire or the model
/// has no others.
std::set<std::string> free_text_functions(const ModelSettings& settings);

/// How a free-text tool is declared as a function: the schema of its one argument, `input`.
Json free_text_parameters(const ToolSpec& tool);
/// The arguments of such a function: {"input": TEXT}.
std::string free_text_arguments(const std::string& text);

/// The call's arguments as the text of a JSON object, as providers take them back: what is none is
/// {"input": TEXT}.
std::string object_arguments(const ToolCall& call);

}  // namespace sortie
