#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "app/commands/command_line.h"
#include "app/commands/schema_names.h"
#include "app/show/events_jsonl.h"
#include "app/show/standard_output.h"
#include "ci/batch/batch_row.h"
#include "ci/result.h"
#include "core/base/error.h"
#include "core/batch/manifest_loader.h"
#include "core/json/json.h"
#include "core/rates/rate_limits.h"
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

struct SchemaRow {
  const char* name;
  Json (*schema)();
};

constexpr auto kSchemas = std::to_array<SchemaRow>({
    {"task", task_schema},
    {"policy", policy_schema},
    {"functions", functions_schema},
    {"manifest", manifest_schema},
    {"batch-result", batch_result_schema},
    {"transcript", transcript_schema},
    {"event", event_schema},
    {"result", result_schema},
    {"approver-request", approver_request_schema},
    {"approver-answer", approver_answer_schema},
    {"rate-limits", rate_limits_schema},
});

/// "task, policy or result"
std::string listed_schemas() {
  std::string text;
  for (const SchemaRow& row : kSchemas) {
    const bool last = &row == &kSchemas.back();
    text += (text.empty() ? "" : last ? " or " : ", ") + std::string(row.name);
  }
  return text;
}

Json schema_of(const std::string& name) {
  for (const SchemaRow& row : kSchemas)
    if (name == row.name) return row.schema();
  const std::string nearest = nearest_name(name, schema_names());
  throw InputError("unknown schema '" + one_line(name) + "'; expected " + listed_schemas() +
                   (nearest.empty() ? "" : "; did you mean '" + nearest + "'?"));
}

}  // namespace

std::vector<std::string> schema_names() {
  std::vector<std::string> names;
  for (const SchemaRow& row : kSchemas) names.emplace_back(row.name);
  return names;
}

void add_schema(CommandTable& table) {
  auto name = std::make_shared<std::string>();
  CLI::App& app = add_command(table, table.root, "schema", "Print a JSON Schema (draft 2020-12).",
                              "sortie schema task > task.schema.json", [name] {
                                print_document(write_json_pretty(schema_of(*name)));
                                return ExitCode::success;
                              });
  app.add_option("NAME", *name, listed_schemas())->required();
}

}  // namespace sortie
