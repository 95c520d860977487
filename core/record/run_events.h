#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/exit_code.h"
#include "core/base/spelling.h"
#include "core/json/json.h"

namespace sortie {

// Events of the run as a whole: its start, stages, budget and end.

/// The task or policy of a run; `text` is the effective one, with all defaults.
struct SourceFile {
  std::string digest;  ///< "sha256:…"
  std::string path;
  std::string text;
};

struct WorkspaceStart {
  std::string path;
  std::string seen_as;  ///< by commands
  std::string base_commit{};
  std::string isolation{};
  std::string reason{};  ///< why this isolation was chosen

  const std::string& commands_see() const { return seen_as.empty() ? path : seen_as; }
};

/// The sandbox layers in force; the same members as SandboxLayers of policies/sandbox/keeper.
struct SandboxStart {
  bool namespaces = false;
  int landlock_abi = 0;
  bool seccomp = false;
  bool cgroup = false;
  bool connect_gate = false;
  std::vector<std::string> missing{};
  std::string mode{};
  std::string network{};
};

/// The first event of a run.
struct RunStart {
  int version = 1;
  std::string run_id;
  std::string run_key;
  std::string sortie = SORTIE_VERSION;
  SourceFile task;
  SourceFile policy;
  WorkspaceStart workspace;
  Json model;  ///< {"provider","name",…}
  SandboxStart sandbox;
  Json budget;        ///< to_json(TaskBudget), core/agent/budget.h
  Json task_files{};  ///< object: what the task names besides prompts: "functions", "output_schema"
  std::string resumed_from{};
  std::string seal{};  ///< what the kernel knows of the transcript's file: a copy of it has another
  std::vector<std::string> warnings{};  ///< risky permissions of the policy
};

/// What the workspace had at the start that its commit does not have: changed, staged, removed and
/// untracked files that git does not ignore; without a commit all files.
struct StartChanges {
  std::string
      digest{};  ///< "sha256:…" of the whole list, as `list` has it; "": it could not be read
  std::uint64_t changes = 0;
  /// A line for each: "MARK NAME\n", as own_state() writes them, in the order of their paths; "" where
  /// it is not recorded, and for none.
  std::string list{};
  bool more = false;  ///< the list is too long to be recorded, or has a secret: only its digest is
  std::string not_read{};  ///< why there is no digest
};

/// The start of a stage.
struct StageRecord {
  std::string name;
  std::string prompt;              ///< as it is sent; "" for the stage that verifies
  std::vector<std::string> tools;  ///< the names that the model is shown
  std::string sandbox;             ///< the mode in force: "read-only", …
};

struct StageCompleted {
  std::string name;
  std::string reason;  ///< why it failed; "" if it did not
  int turns = 0;       ///< requests that it took
};

enum class BudgetKind { turns, stage_turns, tool_calls, tokens, time, cost };
template <>
inline constexpr auto kSpelling<BudgetKind> =
    std::to_array<Spelled<BudgetKind>>({{BudgetKind::turns, "turns"},
                                        {BudgetKind::stage_turns, "stage_turns"},
                                        {BudgetKind::tool_calls, "tool_calls"},
                                        {BudgetKind::tokens, "tokens"},
                                        {BudgetKind::time, "time"},
                                        {BudgetKind::cost, "cost"}});

struct BudgetExhausted {
  BudgetKind which = BudgetKind::turns;
  std::int64_t limit = 0;  ///< time in milliseconds, cost in millionths of a USD
  std::int64_t used = 0;
};

/// The last event of a run.
struct RunEnd {
  ExitCode code = ExitCode::success;
  std::string status;  ///< "": status_word(code)
  std::string reason;
  Json usage;      ///< ci/tally.h: total and by model
  Json durations;  ///< milliseconds: model, tools, verification, own, total
  Json counts;     ///< turns, tool_calls, denials, retries
  /// File name in --out → "sha256:…", for all artifacts except the transcript and result.json.
  std::map<std::string, std::string> artifacts;
  std::optional<bool> retryable{};  ///< nothing: as the code says
  Json result{};                    ///< object: result.json without the transcript's digest
};

}  // namespace sortie
