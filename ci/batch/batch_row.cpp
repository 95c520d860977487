#include "ci/batch/batch_row.h"

#include <algorithm>
#include <utility>

#include "ci/attempts.h"
#include "core/base/error.h"
#include "core/files/files.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::string_view kSchema = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "a line of results.jsonl of sortie batch",
  "type": "object",
  "required": ["name", "task", "vars", "workspace", "instance", "shard", "status", "exit_code",
               "reason", "next", "retryable", "retry_after_s", "attempts", "cost_usd", "tokens",
               "turns", "duration_ms", "verified", "diff", "out", "model", "run_id"],
  "properties": {
    "name": {"type": "string", "pattern": "^[a-z0-9_][a-z0-9_.-]*$"},
    "task": {"type": "string"},
    "vars": {"type": "object", "additionalProperties": {"type": "string"}},
    "workspace": {"type": ["string", "null"]},
    "instance": {"type": ["string", "null"]},
    "shard": {"type": ["string", "null"], "pattern": "^[0-9]+/[0-9]+$"},
    "status": {"type": "string"},
    "exit_code": {"type": ["integer", "null"], "minimum": 0, "maximum": 255},
    "reason": {"type": "string"},
    "next": {"type": ["string", "null"]},
    "retryable": {"type": "boolean"},
    "retry_after_s": {"type": ["integer", "null"], "minimum": 0},
    "attempts": {"type": "integer", "minimum": 0},
    "cost_usd": {"type": ["number", "null"], "minimum": 0},
    "tokens": {"type": "integer", "minimum": 0},
    "turns": {"type": "integer", "minimum": 0},
    "duration_ms": {"type": "integer", "minimum": 0},
    "verified": {"type": ["boolean", "null"]},
    "diff": {"anyOf": [{"type": "null"}, {
      "type": "object",
      "required": ["path", "sha256", "lines"],
      "properties": {
        "path": {"type": "string"},
        "sha256": {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"},
        "lines": {"type": "integer", "minimum": 0}
      }
    }]},
    "out": {"type": "string"},
    "model": {"type": ["string", "null"]},
    "run_id": {"type": ["string", "null"]}
  }
})";

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

/// "a, b and 3 more"
std::string names_of(const std::vector<const BatchRow*>& rows) {
  std::string text;
  constexpr std::size_t kShown = 3;
  for (std::size_t i = 0; i < std::min(rows.size(), kShown); ++i)
    text += (text.empty() ? "" : ", ") + rows[i]->name;
  if (rows.size() > kShown) text += " and " + std::to_string(rows.size() - kShown) + " more";
  return text;
}

/// 0: comes first.
int rank_of(const BatchRow& row) {
  if (row.passed()) return 4;
  if (row.status == BatchRow::kMissing) return 2;
  if (row.status == BatchRow::kNotStarted) return 3;
  return row.may_be_retried() ? 1 : 0;
}

}  // namespace

bool read_run_result(const Json& result, BatchRow& row) {
  const auto end = read_attempt_end(1, result);
  if (!end) return false;
  row.status = end->status;
  row.code = end->code;
  row.reason = end->reason;
  row.next = result.string_at("next");
  row.retryable = result["retryable"].boolean();
  row.retry_after_s = result["retry_after_s"].integer();
  row.cost = end->cost;
  row.tokens = end->tokens;
  row.turns = end->turns;
  row.duration = end->duration;
  row.verified = end->verified;
  row.model = result["model"].string_at("requested");
  row.run_id = result.string_at("run_id");
  // Of several attempts, what all of them have used.
  if (const Json& all = result["best_of"]; all.is_object()) {
    row.tokens = all.integer_at("tokens", row.tokens);
    row.turns = all.integer_at("turns", row.turns);
    row.cost.reset();
    if (const auto cost = all["cost_usd"].real()) row.cost = Cost::usd(*cost);
  }
  for (const char* name : {"changes.diff", "partial.diff"})
    if (const Json* digest = result["artifacts"].find(name); digest != nullptr) {
      row.diff = row.out + "/" + name;
      row.diff_sha256 = digest->text();
      row.diff_lines = end->lines;
      break;
    }
  return true;
}

Json batch_row_json(const BatchRow& row) {
  Json vars = Json::object();
  for (const auto& [name, value] : row.vars) vars.set(name, value);
  Json diff;
  if (!row.diff.empty())
    diff =
        Json::object({{"path", row.diff}, {"sha256", row.diff_sha256}, {"lines", row.diff_lines}});
  return Json::object({{"name", row.name},
                       {"task", row.task},
                       {"vars", std::move(vars)},
                       {"workspace", text_or_null(row.workspace)},
                       {"instance", text_or_null(row.instance)},
                       {"shard", text_or_null(row.shard)},
                       {"status", row.status},
                       {"exit_code", row.code ? Json(static_cast<int>(*row.code)) : Json()},
                       {"reason", row.reason},
                       {"next", text_or_null(row.next)},
                       {"retryable", row.retryable},
                       {"retry_after_s", row.retry_after_s ? Json(*row.retry_after_s) : Json()},
                       {"attempts", row.attempts},
                       {"cost_usd", row.cost ? Json::number(row.cost->exact()) : Json()},
                       {"tokens", row.tokens},
                       {"turns", row.turns},
                       {"duration_ms", static_cast<std::int64_t>(row.duration.count())},
                       {"verified", row.verified ? Json(*row.verified) : Json()},
                       {"diff", std::move(diff)},
                       {"out", row.out},
                       {"model", text_or_null(row.model)},
                       {"run_id", text_or_null(row.run_id)}});
}

BatchRow read_batch_row(const Json& json) {
  BatchRow row;
  row.name = json.string_at("name");
  row.status = json.string_at("status");
  if (row.name.empty() || row.status.empty()) throw InputError("is no result of a run of a batch");
  row.task = json.string_at("task");
  for (const auto& [name, value] : json["vars"].members()) row.vars[name] = value.text();
  row.workspace = json.string_at("workspace");
  row.instance = json.string_at("instance");
  row.shard = json.string_at("shard");
  if (const auto code = json["exit_code"].integer()) row.code = static_cast<ExitCode>(*code);
  row.reason = json.string_at("reason");
  row.next = json.string_at("next");
  row.retryable = json["retryable"].boolean();
  row.retry_after_s = json["retry_after_s"].integer();
  row.attempts = static_cast<int>(json.integer_at("attempts"));
  if (const auto cost = json["cost_usd"].real()) row.cost = Cost::usd(*cost);
  row.tokens = json.integer_at("tokens");
  row.turns = json.integer_at("turns");
  row.duration = std::chrono::milliseconds(json.integer_at("duration_ms"));
  if (json["verified"].is_boolean()) row.verified = json["verified"].boolean();
  row.diff = json["diff"].string_at("path");
  row.diff_sha256 = json["diff"].string_at("sha256");
  row.diff_lines = json["diff"].integer_at("lines");
  row.out = json.string_at("out");
  row.model = json.string_at("model");
  row.run_id = json.string_at("run_id");
  return row;
}

Json batch_result_schema() { return parse_json(kSchema); }

std::string batch_rows_text(std::vector<BatchRow> rows) {
  std::sort(rows.begin(), rows.end(),
            [](const BatchRow& a, const BatchRow& b) { return a.name < b.name; });
  std::string text;
  for (const BatchRow& row : rows) text += write_json(batch_row_json(row)) + "\n";
  return text;
}

std::vector<BatchRow> read_batch_rows(const std::filesystem::path& file) {
  const TextFile text = read_text_file(file, kMostFileBytes);
  if (!text.problem.empty()) throw InputError(file.string() + ": " + text.problem);
  const std::string_view whole = std::string_view(text.text).substr(0, text.text.rfind('\n') + 1);
  std::map<std::string, BatchRow> rows;
  int number = 0;
  for (const std::string_view line : split_lines(whole)) {
    ++number;
    try {
      BatchRow row = read_batch_row(parse_json(line));
      rows[row.name] = std::move(row);
    } catch (const std::exception& error) {
      throw InputError(file.string() + ":" + std::to_string(number) + ":1: error: " + error.what());
    }
  }
  std::vector<BatchRow> list;
  for (auto& [name, row] : rows) list.push_back(std::move(row));
  return list;
}

BatchEnd judge_batch(const std::vector<BatchRow>& rows) {
  std::vector<const BatchRow*> failed;
  std::vector<const BatchRow*> budget;
  std::vector<const BatchRow*> retryable;
  std::vector<const BatchRow*> missing;
  std::vector<const BatchRow*> unstarted;
  std::size_t passed = 0;
  for (const BatchRow& row : rows) {
    if (row.passed())
      ++passed;
    else if (row.status == BatchRow::kMissing)
      missing.push_back(&row);
    else if (row.code == ExitCode::budget)
      budget.push_back(&row);
    else if (row.may_be_retried())
      retryable.push_back(&row);
    else if (row.status == BatchRow::kNotStarted)
      unstarted.push_back(&row);
    else
      failed.push_back(&row);
  }
  BatchEnd end;
  end.cause = std::to_string(passed) + " of " + std::to_string(rows.size()) +
              (rows.size() == 1 ? " run succeeded" : " runs succeeded");
  const auto add = [&end](const std::vector<const BatchRow*>& list, const char* words) {
    if (!list.empty())
      end.cause += "; " + std::to_string(list.size()) + words + ": " + names_of(list);
  };
  add(failed, " failed");
  add(budget, " ended by a budget");
  add(retryable, " may succeed later");
  add(missing, " missing");
  add(unstarted, " not started");
  if (!failed.empty() || !missing.empty()) {
    end.code = ExitCode::task_failed;
    end.next = !failed.empty() ? "see the failed runs' summary.md"
                               : "run the shards that are missing, and merge again";
  } else if (!budget.empty()) {
    end.code = ExitCode::budget;
    end.next = "the same command with a higher budget goes on";
  } else if (!retryable.empty()) {
    // The provider's own limit first: it says when it is over.
    end.code = ExitCode::unavailable;
    const auto is = [&](ExitCode code) {
      return std::any_of(retryable.begin(), retryable.end(),
                         [code](const BatchRow* row) { return row->code == code; });
    };
    for (const ExitCode code : {ExitCode::conflict, ExitCode::busy, ExitCode::terminated,
                                ExitCode::interrupted, ExitCode::unavailable, ExitCode::limited})
      if (is(code)) end.code = code;
    end.next = "the same command later";
  } else if (!unstarted.empty()) {
    end.code = ExitCode::task_failed;
    end.next = "the same command goes on";
  }
  return end;
}

void sort_for_people(std::vector<BatchRow>& rows) {
  std::sort(rows.begin(), rows.end(), [](const BatchRow& a, const BatchRow& b) {
    return std::pair(rank_of(a), std::cref(a.name).get()) <
           std::pair(rank_of(b), std::cref(b.name).get());
  });
}

BatchSum sum_of(const std::vector<BatchRow>& rows) {
  BatchSum sum{.runs = rows.size()};
  for (const BatchRow& row : rows) {
    switch (rank_of(row)) {
      case 0:
        ++sum.failed;
        break;
      case 1:
        ++sum.retryable;
        break;
      case 4:
        ++sum.passed;
        break;
      default:
        ++sum.not_started;
    }
    if (row.cost) sum.cost += *row.cost;
    if (!row.cost && row.turns > 0) sum.cost_known = false;
    sum.tokens += row.tokens;
    sum.turns += row.turns;
    sum.duration += row.duration;
  }
  return sum;
}

}  // namespace sortie
