#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/exit_code.h"
#include "core/catalog/cost.h"
#include "core/json/json.h"

namespace sortie {

/// How one run of a batch ended: a line of results.jsonl.
struct BatchRow {
  static constexpr const char* kKilled = "killed";           ///< its process was, by a signal
  static constexpr const char* kNotStarted = "not-started";  ///< the batch ended before
  static constexpr const char* kMissing = "missing";         ///< no shard has it

  std::string name{};
  std::string task{};                         ///< its part of the name
  std::map<std::string, std::string> vars{};  ///< the operator's
  std::string workspace{};         ///< a path, or "REPOSITORY@COMMIT"; "": the task's own
  std::string instance{};          ///< "" for none
  std::string shard{};             ///< "2/4"; "" for a whole batch
  std::string status{};            ///< as in result.json, or one of the words above
  std::optional<ExitCode> code{};  ///< nothing: it has none
  std::string reason{};            ///< one sentence
  std::string next{};              ///< what to do about it
  bool retryable = false;
  std::optional<std::int64_t> retry_after_s{};
  int attempts = 0;            ///< starts of its process, in all starts of the batch
  std::optional<Cost> cost{};  ///< nothing: not known
  std::int64_t tokens = 0;     ///< as the budget counts them
  std::int64_t turns = 0;
  std::chrono::milliseconds duration{0};
  std::optional<bool> verified{};
  std::string diff{};         ///< its path from the batch's folder; "" for none
  std::string diff_sha256{};  ///< "sha256:…"
  std::int64_t diff_lines = 0;
  std::string out{};     ///< its folder from the batch's folder: "runs/NAME"
  std::string model{};   ///< as it was asked for
  std::string run_id{};  ///< "" if nothing was started

  bool passed() const { return code == ExitCode::success; }
  /// Whether another start of the same batch may help without anything being changed.
  bool may_be_retried() const { return !passed() && (retryable || status == kKilled); }
};

/// Fills in what a finished run's result.json says; leaves the rest as it is.
/// @return  false if it has no end
bool read_run_result(const Json& result, BatchRow& row);

Json batch_row_json(const BatchRow& row);
/// @throws Error  usage: it is no such row
BatchRow read_batch_row(const Json& json);

/// JSON Schema (draft 2020-12) of a line of results.jsonl.
Json batch_result_schema();

/// The lines of results.jsonl, sorted by name.
std::string batch_rows_text(std::vector<BatchRow> rows);
/// Reads such a file. Of two lines of one name the later one counts; a last line without its newline,
/// which a kill cut off, is left out.
/// @throws Error  usage: "FILE:LINE: …"
std::vector<BatchRow> read_batch_rows(const std::filesystem::path& file);

/// How a batch as a whole ended.
struct BatchEnd {
  ExitCode code = ExitCode::success;
  std::string cause{};  ///< "198 of 200 runs succeeded; 2 failed: a, b"
  std::string next{};
};

/// Judges the rows: 0 if all succeeded; 1 if one failed for good; 4 if only the budget was in the way; the
/// code of a retryable failure if only such are left.
BatchEnd judge_batch(const std::vector<BatchRow>& rows);

/// In the order for people: what failed first.
void sort_for_people(std::vector<BatchRow>& rows);

/// What all runs have used.
struct BatchSum {
  std::size_t runs = 0;
  std::size_t passed = 0;
  std::size_t failed = 0;       ///< for good
  std::size_t retryable = 0;    ///< failed, and another start may help
  std::size_t not_started = 0;  ///< missing ones too
  Cost cost{};
  bool cost_known = true;
  std::int64_t tokens = 0;
  std::int64_t turns = 0;
  std::chrono::milliseconds duration{0};  ///< of all runs together
};
BatchSum sum_of(const std::vector<BatchRow>& rows);

}  // namespace sortie
