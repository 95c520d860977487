#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/inputs/run_inputs.h"
#include "app/run/call_changes.h"
#include "app/run/protected_names.h"
#include "app/run/run_checkpoint.h"
#include "app/run/signals.h"
#include "app/setup/run_services.h"
#include "ci/result.h"
#include "core/agent/budget.h"
#include "core/agent/earlier_work.h"
#include "core/base/clock.h"
#include "core/files/files.h"
#include "core/secrets/redact.h"
#include "core/workspace/diff/changed_state.h"
#include "core/workspace/diff/diff.h"
#include "core/workspace/workspace.h"

namespace sortie {

/// The tree that a run works on: its changes and their diff.
class RunTree : public WorkSoFar {
 public:
  /// Everything in it outlives the object.
  struct Parts {
    const RunInputs& inputs;
    const Workspace& workspace;
    DiskFiles& view;  ///< as commands see it
    const Budget& budget;
    const Clock& clock;
    const Signals& signals;
    const std::filesystem::path& out;
    const Redactor& redactor;
    RunRecord& record;
    RunResult& result;
  };
  RunTree(const Parts& parts, const ProtectedNames::Parts& names) : parts_(parts), names_(names) {}
  RunTree(const RunTree&) = delete;
  RunTree& operator=(const RunTree&) = delete;

  ProtectedNames& names() noexcept { return names_; }
  /// From now on, touched paths are due to calls.
  /// @throws Error  as RunCheckpoint::restore()
  void begin_work();
  /// As RunCheckpoint::know_start(), once work has begun.
  void know_start(const std::vector<std::string>& paths,
                  const std::vector<std::filesystem::path>& apart);
  /// Writes a checkpoint of a run that ends, and can be gone on with.
  void checkpoint() noexcept;
  /// Nothing unless the tree was made from a checkpoint.
  const std::optional<RestoredTree>& restored() const noexcept { return restored_; }

  Diff draft(const std::string& only, const CancelCheck& check_cancel) override;
  std::vector<ChangedPath> changed_paths() override;
  std::vector<std::string> touched_paths() override;
  std::vector<FileChange> file_changes(const std::vector<std::string>& touched,
                                       bool by_other_program) override;
  std::vector<std::string> files_at_limit() override;
  std::vector<std::string> led_elsewhere() override { return names_.led_elsewhere(); }
  std::vector<std::string> restore_protected() override { return names_.restore_changed(); }

  /// Makes the diff of the run, for the result.
  /// @throws RunEnds  a signal came, or the time is up
  void make_diff();
  /// Makes the diff of a failed run. Its time may be over, so this has a limit of its own.
  /// @throws Error  budget: the limit is exceeded
  void make_partial_diff();
  /// Nothing if it was not made or failed.
  const std::optional<Diff>& diff() const noexcept { return diff_; }
  /// Whether making it failed.
  bool diff_failed() const noexcept { return diff_failed_; }
  /// Keeps in --out the changes that the diff lacks, so that no work is lost.
  void keep_undiffed();
  /// The paths that patches of the agent wrote so far. Safe in every thread.
  std::set<std::string> patched() const;
  /// As EarlierTurn::effects, of a run that was taken up.
  CutOffEffects cut_off_effects(const TurnCall* call);
  /// The state that a verification checks.
  /// @throws RunEnds  a signal came, or the time is up
  ChangedState state();
  /// The same of another tree over the same start.
  ChangedState state_of(const Workspace& workspace, const DiskFiles& files);
  /// The diff as it is now, proved and with its effect, for run_tests. Safe in every thread.
  Diff snapshot(const CancelCheck& check_cancel);
  const Workspace& workspace() const noexcept { return parts_.workspace; }
  /// @param doing  "during verification"
  [[noreturn]] void end_by_time(const std::string& doing);

 private:
  void begin_checkpoints();
  void remove_unfinished_writes();
  void end_if_over(const char* doing);
  void make(const CancelCheck& check_cancel, bool renames);
  void list_undiffed();
  void announce_kept(const std::vector<std::string>& paths);
  std::vector<std::string> undiffed_paths();

  Parts parts_;
  ProtectedNames names_;
  std::optional<TouchedPaths> touched_;
  std::optional<CallChanges> call_changes_;
  std::optional<RunCheckpoint> checkpoint_;
  std::optional<RestoredTree> restored_;
  std::optional<Diff> diff_;
  bool diff_failed_ = false;
  bool effects_found_ = false;  ///< cut_off_effects() has returned its changes
};

}  // namespace sortie
