#pragma once

#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>

#include "app/run/verifier.h"
#include "ci/result.h"
#include "ci/verification.h"
#include "core/workspace/diff/changed_state.h"

namespace sortie {

/// Decides whether the work of a run is accepted: its verification, the task's expectations of the
/// diff, and secrets in it. Its findings go into the result.
class Acceptance : public OwnTests {
 public:
  using Parts = Verifier::Parts;
  explicit Acceptance(const Parts& parts) : parts_(parts), verifier_(parts) {}
  Acceptance(const Acceptance&) = delete;
  Acceptance& operator=(const Acceptance&) = delete;

  RunTests::Outcome run_tests(std::stop_token stop) override {
    return verifier_.run_tests(std::move(stop));
  }

  /// Runs the verification before the work, if the task asks for it.
  /// @throws RunEnds  its result is not the expected one, or there is nothing to do
  void verify_start();
  /// Goes on with what an earlier process of the run has verified.
  void take_up(const RunHistory& history);
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
  /// Paths in the run's tree that were made by verifications, not by calls of the agent.
  const std::set<std::string>& made_by_verification() const noexcept { return verifier_.made(); }

 private:
  std::string evaluate_verification(Background& agent);
  std::string judge_whole();
  std::string judge_programs();
  std::string evaluate_diff();
  std::string feedback_of_round(const VerificationResult& failed) const;
  bool tree_is_as_verified() const;
  bool diff_is_as_verified() const;
  void check_still_verified();
  void warn_of_excused(const VerificationResult& passed);
  void count_failure(const std::string& reason, const std::string& kind = {},
                     const std::string& next = {});
  void warn_of_attributes();
  void check_leaks(const std::string& final_message);

  Parts parts_;
  Verifier verifier_;
  int failed_rounds_ = 0;  ///< of verification or expectations
  /// The tree that passed the verification of a stage; nothing if none did, or it is unknown.
  std::optional<std::string> verified_tree_;
  /// The state of the run's tree that the last passed verification was about.
  std::optional<ChangedState> verified_state_;
  bool leaks_in_binary_ = false;
};

}  // namespace sortie
