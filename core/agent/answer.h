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

/// The task's `output.schema` as the providers are told of it; nothing where it has none.
std::optional<OutputSchema> output_schema_of(const Task& task);

/// Why providers are not asked to hold the model to the schema while it writes (strict mode), one
/// line for the operator; "" where they are, or where there is no schema.
std::string not_strict_note(const Task& task);

/// Checks a final message against the task's `output.schema`.
class AnswerCheck {
 public:
  /// @param schema  one that JsonSchema takes
  /// @throws InputError
  explicit AnswerCheck(const Json& schema) : schema_(schema) {}

  /// What keeps the message from being JSON of the schema; none when it fits.
  ///
  /// The whole message has to be one JSON text (RFC 8259; white space around it is part of that):
  /// nothing is cut out of a code fence or of prose, since what is taken for the answer would then
  /// be a guess. No duplicate names, at most 128 levels and 4 MiB, numbers that a double can hold.
  std::vector<SchemaFinding> check(std::string_view message) const;

 private:
  JsonSchema schema_;
};

/// A turn of the agent, up to a final message that fits its schema.
///
/// A misfit goes back with all that is wrong, twice at most; then the result is task_failed. Each
/// is on record as `check.hit` of `output_schema`.
/// @param check  null where any message will do
LoopResult run_to_answer(Loop& loop, std::vector<Item> items, const AnswerCheck* check,
                         EventSink& events, std::stop_token stop);

}  // namespace sortie
