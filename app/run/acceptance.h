#pragma once

#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "app/confinement/command_host.h"
#include "app/inputs/run_inputs.h"
#include "app/run/run_record.h"
#include "app/run/run_tree.h"
#include "app/run/signals.h"
#include "app/setup/run_services.h"
#include "ci/result.h"
#include "ci/verification.h"
#include "core/agent/budget.h"
#include "core/git/git_info.h"
#include "core/secrets/redact.h"
#include "core/workspace/diff/changed_state.h"
#include "tools/saved_outputs.h"

namespace sortie {

/// Whether the work of a run is accepted: its verification, what the task expects of the diff, and
/// what must not leave with it. What it finds goes into the result.
class Acceptance : public OwnTests {
 public:
  /// All of it outlives the object.
  struct Parts {
    const RunInputs& inputs;
    CommandHost& host;  ///< where the verification runs
    const Fd& root;     ///< of the tree, as commands see it
    RunTree& tree;
    const DiskFiles& view;
    const GitInfo& git;
    const Budget& budget;
    const Signals& signals;
    const Redactor& redactor;
    SavedOutputs& outputs;
    RunRecord& record;
    RunResult& result;
  };
  explicit Acceptance(const Parts& parts) : parts_(parts) {}
  Acceptance(const Acceptance&) = delete;
  Acceptance& operator=(const Acceptance&) = delete;

  RunTests::Outcome run_tests(std::stop_token stop) override;

  /// The verification before the work, as far as the task asks for one.
  /// @throws RunEnds  its end is not what the task says it must be, or there is nothing to do
  void verify_start();
  /// Runs the verification, if there is one, in a stage. Nothing of the agent's may run meanwhile.
  /// @return  what goes back to the agent, or ""
  /// @throws RunEnds  the rounds are used up; the tree changed under it; a signal, the time
  std::string judge_stage(Background& agent);
  /// What must hold at the end, in its order. A verification that passed in a stage stands as long
  /// as nothing in the tree was written to since. @return, @throws  as judge_stage()
  std::string judge_end(Background& agent);
  /// What must hold of a diff before it may be called a success: protected paths, leaks.
  /// @throws RunEnds  integrity, leak
  void check_diff(const std::string& final_message);
  /// Of a run that ends in a stage: what was verified has to be the tree that it leaves.
  void doubt_changed_tree();
  /// What never is handed on of a diff that was refused for what it holds.
  bool leaks_in_binary() const noexcept { return leaks_in_binary_; }
  /// Paths that no call of the agent made.
  const std::set<std::string>& made_by_verification() const noexcept {
    return made_by_verification_;
  }

 private:
  VerificationOptions verification_options(const std::string& phase, int round) const;
  std::string verification_problem() const;
  void end_background(Background* agent);
  VerificationResult verify_once(const std::string& phase, int round, Background* agent);
  VerificationResult verify(const std::string& phase, int round, Background* agent);
  std::string judge_verification(Background& agent);
  std::string judge_diff();
  bool tree_is_as_verified() const;
  void check_still_verified();
  void count_failure(const std::string& reason);
  void check_leaks(const std::string& final_message);

  Parts parts_;
  int failed_rounds_ = 0;  ///< of verification and expectations
  /// The tree that passed the verification of a stage; nothing: none did, or it can't be told.
  std::optional<std::string> verified_tree_;
  std::optional<ChangedState> verified_state_;  ///< what the last verification has passed
  std::set<std::string> made_by_verification_;
  bool leaks_in_binary_ = false;
};

}  // namespace sortie
