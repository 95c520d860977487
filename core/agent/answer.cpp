#include "core/agent/answer.h"

#include <algorithm>
#include <utility>

#include "core/json/strict_schema.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr int kMaxMismatches = 2;  ///< sent back to the model
constexpr std::size_t kMaxBytes = 4u << 20;
constexpr std::size_t kReasonBytes = 500;

/// "line 2, column 5".
std::string place_in(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t newline = before.rfind('\n');
  const std::size_t column =
      before.size() - (newline == std::string_view::npos ? 0 : newline + 1) + 1;
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

std::string not_json(std::string_view message, const JsonError& error) {
  const std::string_view text = trimmed(message);
  if (text.empty()) return "the message is empty";
  if (text.starts_with("```") && text.ends_with("```"))
    return "the message is not JSON: it is in a Markdown code fence; send only the JSON text";
  return "the message is not JSON: " + std::string(error.what()) + " at " +
         place_in(message, error.offset());
}

std::string feedback_on(const std::vector<SchemaFinding>& findings) {
  std::string text = "Your final message does not match this task's JSON Schema:\n";
  for (const auto& [path, message] : findings)
    text += "- " + (path.empty() ? "" : path + ": ") + message + "\n";
  return text +
         "Send the whole final message again: one JSON value that matches the schema and nothing "
         "else, no prose around it and no code fence.";
}

}  // namespace

std::optional<OutputSchema> output_schema_of(const Task& task) {
  if (!task.output.schema) return std::nullopt;
  return OutputSchema{.schema = *task.output.schema,
                      .strict = strict_mode_findings(*task.output.schema).empty()};
}

std::string not_strict_note(const Task& task) {
  if (!task.output.schema) return {};
  const auto findings = strict_mode_findings(*task.output.schema);
  if (findings.empty()) return {};
  return "output.schema: checked here, but not fit for a provider's strict mode: " +
         describe_strict_findings(findings);
}

std::vector<SchemaFinding> AnswerCheck::check(std::string_view message) const {
  if (message.size() > kMaxBytes) return {{"", "the message is longer than 4 MiB"}};
  try {
    return schema_.check(parse_json(message));
  } catch (const JsonError& error) {
    return {{"", not_json(message, error)}};
  }
}

LoopResult run_to_answer(Loop& loop, std::vector<Item> items, const AnswerCheck* check,
                         EventSink& events, std::stop_token stop,
                         std::optional<EarlierTurn> earlier) {
  for (int mismatches = 1;; ++mismatches) {
    LoopResult result =
        earlier ? loop.resume(std::move(*earlier), stop) : loop.run(std::move(items), stop);
    earlier.reset();
    if (result.code != ExitCode::success || !check) return result;
    const auto findings = check->check(loop.last_message());
    if (findings.empty()) return result;
    const std::string saw = describe(findings);
    const std::string feedback = mismatches <= kMaxMismatches ? feedback_on(findings) : "";
    events.on(check_hit_event(loop.turn(), "output_schema", saw, feedback));
    if (feedback.empty())
      return {.code = ExitCode::task_failed,
              .reason = "the output does not fit its schema: " + one_line(saw, kReasonBytes),
              .kind = "output_schema"};
    items = {Item{Message{Message::Role::user, feedback}}};
  }
}

}  // namespace sortie
