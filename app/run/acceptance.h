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

/// Decides whether the work of a run is accepted: its verification, the task's expectations of the
/// diff, and secrets in it. Its findings go into the result.
class Acceptance : public OwnTests {
 public:
  /// Everything in it outlives the object.
  struct Parts {
    const RunInputs& inputs;
    CommandHost& host;  ///< runs the verification
    const Fd& root;     ///< the root of the tree, as commands see it
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

  /// Runs the verification before the work, if the task asks for it.
  /// @throws RunEnds  its result is not the expected one, or there is nothing to do
  void verify_start();
  /// Runs the verification, if there is one, in a stage. No process of the agent runs meanwhile.
  /// @return  feedback for the agent, or ""
  /// @throws RunEnds  the rounds are used up; the tree changed meanwhile; a signal; the time limit
  std::string evaluate_stage(Background& agent);
  /// Checks everything at the end, in order. A verification that passed in a stage stays valid as long
  /// as nothing in the tree was written. @return, @throws  as evaluate_stage()
  std::string evaluate_end(Background& agent);
  /// Checks a diff before the run may succeed: protected paths, leaks.
  /// @throws RunEnds  integrity, leak
  void check_diff(const std::string& final_message);
  /// For a run that ends in a stage: withdraws the verification if the tree has changed since.
  void doubt_changed_tree();
  /// Whether a binary part of the diff leaks a secret, so that none of it may be handed over.
  bool leaks_in_binary() const noexcept { return leaks_in_binary_; }
  /// Paths that were made by verifications, not by calls of the agent.
  const std::set<std::string>& made_by_verification() const noexcept {
    return made_by_verification_;
  }

 private:
  VerificationOptions verification_options(VerificationPhase phase, int round) const;
  std::string verification_refusal() const;
  void end_background(Background* agent);
  VerificationResult verify_once(VerificationPhase phase, int round, Background* agent);
  VerificationResult verify(VerificationPhase phase, int round, Background* agent);
  std::string evaluate_verification(Background& agent);
  std::string evaluate_diff();
  bool tree_is_as_verified() const;
  void check_still_verified();
  void warn_of_excused(const VerificationResult& passed);
  void count_failure(const std::string& reason, const std::string& kind = {});
  void check_leaks(const std::string& final_message);

  Parts parts_;
  int failed_rounds_ = 0;  ///< of verification or expectations
  /// The tree that passed the verification of a stage; nothing if none did, or it is unknown.
  std::optional<std::string> verified_tree_;
  std::optional<ChangedState> verified_state_;  ///< the state that passed the last verification
  std::set<std::string> made_by_verification_;
  bool leaks_in_binary_ = false;
};

}  // namespace sortie
