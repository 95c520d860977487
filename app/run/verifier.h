#pragma once

#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "app/confinement/command_host.h"
#include "app/inputs/run_inputs.h"
#include "app/run/fresh_tree.h"
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

class VerificationPlace;

/// Runs the task's verification on a fresh tree or on the run's own, and judges whether it changes
/// what it checks.
class Verifier : public OwnTests {
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
  explicit Verifier(const Parts& parts) : parts_(parts) {}
  Verifier(const Verifier&) = delete;
  Verifier& operator=(const Verifier&) = delete;

  RunTests::Outcome run_tests(std::stop_token stop) override;

  /// Whether the task has a verification, and it checks a tree of its own.
  bool is_fresh() const;
  /// Ends the agent's processes, so that none runs while its work is checked.
  void end_background(Background* agent);
  /// Runs the commands once; once more if they changed the tree.
  /// @param diff  of the run, with its effect; null: the start. Without meaning for the run's own
  ///              tree
  /// @throws RunEnds  the tree changed again, and is not a fresh one with a diff: then see changed();
  ///                  a signal; the time limit
  VerificationResult verify(VerificationPhase phase, int round, const Diff* diff,
                            Background* agent);
  /// What the last verification changed of what it checks: if it passed, it changed that twice, and
  /// nothing is verified; if it failed, it had passed before that was put back.
  const std::vector<std::string>& changed() const noexcept { return changed_; }
  /// What its commands made at paths of verify.restore, and what was removed before the next one.
  const std::set<std::string>& taken_out() const noexcept { return taken_out_; }
  /// The state of the run's own tree after a verification there has passed.
  std::optional<ChangedState> take_left() { return std::exchange(left_, {}); }
  /// Paths that verifications made in the run's own tree, not calls of the agent.
  const std::set<std::string>& made() const noexcept { return made_; }

 private:
  VerificationOptions options_for(VerificationPhase phase, int round) const;
  std::string refusal() const;
  std::unique_ptr<VerificationPlace> open_place(const Diff* diff) const;
  FreshTree::Parts tree_parts() const;
  VerificationResult run_once(VerificationOptions options, Background* agent,
                              VerificationPlace& place, bool again);
  void look_between(const ChangedState& judged, VerificationPlace& place,
                    std::set<std::string>& changed);
  [[noreturn]] void end_changed(const VerificationResult& result,
                                const std::vector<std::string>& paths);

  Parts parts_;
  std::optional<ChangedState> left_;
  std::set<std::string> made_;
  std::vector<std::string> changed_;
  std::set<std::string> taken_out_;
};

/// Why nothing is verified, and what a user can do about it.
std::string changes_what_it_checks(const std::vector<std::string>& paths);
inline constexpr const char* kLetItChange =
    "let git ignore what it makes, or name it in verify.may_change";

/// The digest of a diff, as records and result.json have it.
std::string digest_of(const Diff& diff);

/// What a fresh tree lacks of the run's, in words for the agent: ignored files and build products
/// that the run made, and what verify.restore put back. "" for nothing.
std::string absent_from_fresh_tree(const Diff& diff, const std::vector<std::string>& restored);

}  // namespace sortie
