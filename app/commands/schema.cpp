#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/commands/command_line.h"
#include "app/show/events_jsonl.h"
#include "app/show/standard_output.h"
#include "ci/result.h"
#include "core/base/error.h"
#include "core/json/json.h"
#include "core/record/event_codec.h"
#include "core/task/functions.h"
#include "core/task/task.h"
#include "core/task/task_loader.h"
#include "core/text/text.h"
#include "policies/engine/approver.h"
#include "policies/file/policy_loader.h"
#include "policies/rules/policy.h"

namespace sortie {
namespace {

Json schema_of(const std::string& name) {
  if (name == "task") return task_schema();
  if (name == "policy") return policy_schema();
  if (name == "functions") return functions_schema();
  if (name == "transcript") return transcript_schema();
  if (name == "result") return result_schema();
  if (name == "approver-request") return approver_request_schema();
  if (name == "approver-answer") return approver_answer_schema();
  if (name == "event") return event_schema();
  if (name == "manifest") throw InputError("schema manifest: is not supported yet");
  const std::string nearest =
      nearest_name(name, {"task", "policy", "functions", "transcript", "event", "result",
                          "approver-request", "approver-answer"});
  throw InputError(
      "unknown schema '" + one_line(name) +
      "'; expected task, policy, functions, transcript, event, result, approver-request or "
      "approver-answer" +
      (nearest.empty() ? "" : "; did you mean '" + nearest + "'?"));
}

}  // namespace

void add_schema(CommandTable& table) {
  auto name = std::make_shared<std::string>();
  CLI::App& app = add_command(table, table.root, "schema", "Print a JSON Schema (draft 2020-12).",
                              "sortie schema task > task.schema.json", [name] {
                                print_document(write_json_pretty(schema_of(*name)));
                                return ExitCode::success;
                              });
  app.add_option("NAME", *name,
                 "task, policy, functions, transcript, event, result, approver-request or "
                 "approver-answer")
      ->required();
}

}  // namespace sortie
