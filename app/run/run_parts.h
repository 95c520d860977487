#pragma once

#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "app/artifacts/output_folder.h"
#include "app/confinement/confinement.h"
#include "app/confinement/egress.h"
#include "app/inputs/options.h"
#include "app/inputs/run_inputs.h"
#include "app/run/acceptance.h"
#include "app/run/agent_work.h"
#include "app/run/attempt.h"
#include "app/run/handover.h"
#include "app/run/own_tree_undo.h"
#include "app/run/run_apply.h"
#include "app/run/run_notes.h"
#include "app/run/run_record.h"
#include "app/run/run_tree.h"
#include "app/run/signals.h"
#include "app/run/start_digest.h"
#include "app/setup/run_secrets.h"
#include "ci/result.h"
#include "core/agent/budget.h"
#include "core/base/clock.h"
#include "core/files/files.h"
#include "core/git/git_info.h"
#include "core/json/json.h"
#include "core/workspace/workspace.h"

namespace sortie {

/// What one run consists of, from its loaded inputs to its artifacts. Its opening makes most of it,
/// its closing ends it. The order of the members matters: the keeper is forked before any thread
/// starts and before keys are read.
struct RunParts {
  /// @param out      prepared for this run
  /// @param attempt  null: the run is no attempt of several. Outlives this object
  RunParts(RunInputs loaded, const RunOptions& flags, const OutputStyle& style, GitInfo git_info,
           Json parts_of_key, OutputFolder& folder, Previous found, const Attempt* one_of);

  /// The folder that commands must not see: --out, of all attempts together, or of a whole batch.
  const std::filesystem::path& covered() const {
    if (inputs.thread != nullptr && !inputs.thread->covered.empty()) return inputs.thread->covered;
    if (!batch_folder.empty()) return batch_folder;
    return attempt != nullptr ? attempt->top : out.path();
  }
  bool goes_on() const { return previous == Previous::resumed || previous == Previous::restored; }
  std::stop_token stop() const { return signals ? signals->token() : std::stop_token(); }

  RunInputs inputs;
  const RunOptions& options;
  const std::filesystem::path batch_folder;  ///< absolute; "" for a run of its own
  const Attempt* attempt;
  GitInfo git;
  Json key_parts;
  const Previous previous;
  SystemClock clock;
  Budget budget;
  RunApply apply;  ///< before the keeper: the folder that --apply writes to
  OutputFolder& out;
  std::optional<AtomicFile> room;  ///< never committed
  RunNotes notes;
  RunResult result;
  EarlyKeeper* early_keeper = nullptr;     ///< for the first try to confine
  std::unique_ptr<EarlyGitView> git_view;  ///< as early_keeper; null: none was begun
  std::unique_ptr<Workspace> workspace;
  std::unique_ptr<Confinement> confinement;
  std::future<void> tls;  ///< looks up its algorithms, once the keeper's process is forked
  std::unique_ptr<Signals> signals;
  RunSecrets secrets;
  RunStart start;  ///< what the inputs say of it
  RunRecord record;
  std::unique_ptr<StartDigest> start_digest;  ///< null: none is due
  std::unique_ptr<Egress> egress;
  std::unique_ptr<SavedOutputs> outputs;
  std::unique_ptr<RunTree> tree;
  std::unique_ptr<Acceptance> acceptance;
  std::unique_ptr<AgentWork> work;
  std::optional<Handover> handover;  ///< from the beginning of the end
  std::string end_kind;              ///< RunEnds::kind
  bool worked = false;               ///< the agent's work has begun
  OwnTreeUndo own_tree_undo;
};

/// Collects the secrets to redact. A run that fails early has not shown any: they are collected at its
/// end, for its messages.
void collect_secrets(RunParts& run);

}  // namespace sortie
