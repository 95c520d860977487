#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/agent/loop.h"
#include "core/json/json.h"
#include "core/json/json_schema.h"
#include "core/model/model.h"
#include "core/record/events.h"
#include "core/task/task.h"

namespace sortie {

/// The task's `output.schema` as it is sent to providers; nothing if it has none.
std::optional<OutputSchema> output_schema_of(const Task& task);

/// Why providers are not asked to enforce the schema (strict mode), one line for the operator; ""
/// if they are, or if there is no schema.
std::string not_strict_note(const Task& task);

/// Checks a final message against the task's `output.schema`.
class AnswerCheck {
 public:
  /// @param schema  one that JsonSchema accepts
  /// @throws InputError
  explicit AnswerCheck(const Json& schema) : schema_(schema) {}

  /// Why the message is not JSON that matches the schema; empty if it matches.
  ///
  /// The whole message must be one JSON text (RFC 8259, which allows white space around it):
  /// nothing is extracted from a code fence or from prose, since that would be a guess. No
  /// duplicate names, at most 128 levels and 4 MiB, and only numbers that fit a double.
  std::vector<SchemaFinding> check(std::string_view message) const;

 private:
  JsonSchema schema_;
};

/// Runs the agent until its final message matches the schema.
///
/// A message that does not match is sent back with all errors, at most twice; then the result is
/// task_failed. Each is recorded as a `check.hit` of `output_schema`.
/// @param check    null: any message will do
/// @param earlier  goes on with this turn instead of sending the items
LoopResult run_to_answer(Loop& loop, std::vector<Item> items, const AnswerCheck* check,
                         EventSink& events, std::stop_token stop,
                         std::optional<EarlierTurn> earlier = {});

}  // namespace sortie
