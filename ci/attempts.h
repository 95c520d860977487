#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/agent/shared_budget.h"
#include "core/base/exit_code.h"
#include "core/catalog/cost.h"
#include "core/json/json.h"
#include "core/task/task.h"

namespace sortie {

/// One of several attempts at a task, as result.json tells of it.
struct AttemptEnd {
  static constexpr const char* kStopped = "stopped";  ///< since another had passed
  static constexpr const char* kKilled = "killed";    ///< its process was
  static constexpr const char* kNotStarted = "not-started";

  int number = 0;      ///< from 1
  std::string status;  ///< as in its own result.json, or one of the words above
  ExitCode code = ExitCode::internal;
  std::string reason;  ///< one sentence
  std::optional<bool> verified{};
  std::int64_t files = 0;
  std::int64_t lines = 0;  ///< added and removed ones
  std::int64_t turns = 0;
  std::int64_t tool_calls = 0;
  std::int64_t tokens = 0;     ///< as the budget counts them
  std::optional<Cost> cost{};  ///< nothing: not known
  std::chrono::milliseconds duration{0};
  std::string transcript{};  ///< "sha256:…" of its last record; "" if it has no end
  int place = 0;             ///< in the order of their ends, from 1; 0: it has none
  bool picked = false;
  std::string why{};  ///< it was picked, or was not

  bool has_exit_code() const { return status != kKilled && status != kNotStarted; }
  bool passed() const { return has_ended() && code == ExitCode::success; }
  /// Whether it ended by itself.
  bool has_ended() const {
    return status != kStopped && status != kKilled && status != kNotStarted && !status.empty();
  }
};

/// The folder of an attempt in --out: "attempt-2".
std::string attempt_folder(int number);

/// Whether an artifact tells of all attempts: it is made at their end, and result.json alone names it.
bool is_report_of_attempts(const std::string& name) noexcept;

/// The number in the name of an attempt's folder; 0 for any other name.
int attempt_number(const std::string& name);

/// Reads what an attempt's own result.json says; nothing if that is of a run that has no end.
std::optional<AttemptEnd> read_attempt_end(int number, const Json& result);

/// Sets `picked` of one attempt, and `why` of all: the rule among those that passed, else the one
/// nearest to a success.
/// @param stopped  the signal's code, if the operator ended them: then it is one of that code
/// @return  the index of the picked one
std::size_t pick_attempt(Pick rule, std::vector<AttemptEnd>& attempts,
                         std::optional<ExitCode> stopped = {});

/// The numbers of the attempts that are worth going on with, though the run has ended for good by the
/// outcome of another one: they were cut off, could not begin, or were not started.
/// @param code      of the run
/// @param attempts  as attempts_json() has them
std::vector<int> attempts_left(ExitCode code, const Json& attempts);

/// What to do about them: "the same command goes on with attempt 2".
std::string go_on_with(const std::vector<int>& left, const Json& attempts);

/// What they used together.
SharedBudget::Use sum_of(const std::vector<AttemptEnd>& attempts);

/// The member `attempts` of result.json.
Json attempts_json(const std::vector<AttemptEnd>& attempts);

/// The digest of what a result of several attempts has beside the record of the picked one: their
/// comparison, and what was applied. "sha256:…"; it is in `digests` as "attempts".
std::string comparison_digest(const Json& result);

/// Puts it there, before the other digests.
void set_comparison_digest(Json& result);

/// Compares `attempts` of a result with the attempts' own folders.
/// @param folder  --out
/// @return  "" or the first difference: "attempts[1].lines is 3, but attempt-2/result.json says 4"
std::string attempts_mismatch(const Json& result, const std::filesystem::path& folder);

}  // namespace sortie
