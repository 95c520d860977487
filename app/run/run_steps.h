#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/artifacts/kept_files.h"
#include "app/artifacts/output_folder.h"
#include "app/confinement/confinement.h"
#include "app/confinement/egress.h"
#include "app/confinement/protected_links.h"
#include "app/confinement/protected_paths.h"
#include "app/inputs/inputs.h"
#include "app/inputs/options.h"
#include "app/inputs/run_inputs.h"
#include "app/run/signals.h"
#include "app/setup/compose.h"
#include "app/setup/models.h"
#include "app/show/error_stream.h"
#include "app/show/event_writer.h"
#include "app/show/events_jsonl.h"
#include "app/show/progress.h"
#include "ci/result.h"
#include "ci/tally.h"
#include "ci/verification.h"
#include "core/agent/answer.h"
#include "core/agent/budget.h"
#include "core/base/clock.h"
#include "core/base/exit_code.h"
#include "core/git/config/git_place.h"
#include "core/git/git_info.h"
#include "core/net/proxy.h"
#include "core/record/transcript.h"
#include "core/secrets/redact.h"
#include "core/workspace/diff/changed_state.h"
#include "core/workspace/diff/diff.h"
#include "core/workspace/workspace.h"
#include "policies/environment/environment.h"

namespace sortie {

/// Ends the run with a code that is no failure of the program; caught by Run::execute alone.
struct RunEnds {
  ExitCode code;
  std::string reason;
  std::string next{};
};

/// One run, from its loaded inputs to its artifacts. The members are made in the order in which
/// they stand: the keeper before any thread, keys after the keeper has its own memory.
class Run {
 public:
  Run(RunInputs inputs, const RunOptions& options, const OutputStyle& style)
      : inputs_(std::move(inputs)),
        options_(options),
        style_(style),
        environment_(own_environment()),
        git_places_(std::in_place),
        git_(read_git_info(inputs_.workspace).value_or(GitInfo{})),
        budget_(inputs_.task.budget, clock_, inputs_.terms),
        out_(options.out, options.fresh ? FoundRun::discard : FoundRun::refuse_unfinished) {}

  ExitCode execute();

 private:
  void begin();
  void confine();
  void confine_with(Namespaces namespaces, const std::filesystem::path& state,
                    const std::string& no_namespaces = {});
  Environment commands_environment() const;
  void start_record();
  void open_egress();
  void learn_secrets();
  void take_credentials();
  void prove_guarantees();
  void verify_start();
  void work();
  void start_agent();
  void ask(const std::string& text);
  void run_stage(std::size_t index);
  void verify_stage();
  void save_message(const TaskStage& stage);
  void end_stage(const std::string& reason);
  void fail_stage();
  bool tree_is_as_verified() const;
  std::string judge_verification();
  std::string judge_end();
  void judge_silence();
  void count_failure(const std::string& reason);
  void make_result_diff(const Pace& pace, bool renames = true);
  void make_partial_diff();
  void keep_undiffed();
  std::vector<std::string> undiffed_paths() const;
  void end_if_over(const char* doing);
  [[noreturn]] void end_by_time(const std::string& doing);
  ChangedState state_of_tree();
  void undo_made_paths();
  void check_taken() const;
  std::vector<std::string> find_led_elsewhere();
  void check_links();
  void keep_what_is_taken(const std::filesystem::path& path);
  void tell_made_paths();
  void check_diff();
  void check_leaks();
  void read_notes();
  void take_notes();
  void write_notes();
  ExitCode end();
  std::string finish(const std::function<void()>& step);
  void write_artifacts();
  void write_diff(const std::string& name);
  void close_record();
  void withdraw_success();
  void open_live_events();
  void end_live_events();
  void say_of_stdout(const std::string& problem) const;
  void say_last(const std::string& line);
  RunEnd run_end() const;
  void print(const std::string& text);
  void print_message();
  VerificationOptions verification_options(const std::string& phase, int round) const;
  std::string verification_problem() const;
  void end_background();
  VerificationResult verify(const std::string& phase, int round);
  VerificationResult verify_whole(const std::string& phase, int round);
  void check_still_verified();
  RunTests::Outcome run_tests(std::stop_token stop);
  std::stop_token stop() const { return signals_->token(); }
  void end_if_stopped() const;

  RunInputs inputs_;
  const RunOptions& options_;
  OutputStyle style_;
  Environment environment_;
  std::optional<GitPlacesOnce> git_places_;  ///< until the work begins
  GitInfo git_;
  SystemClock clock_;
  Budget budget_;
  HeldSignals held_signals_;  ///< from before anything is left behind
  OutputFolder out_;
  RunResult result_;
  Tally tally_;
  std::unique_ptr<Workspace> workspace_;
  std::unique_ptr<Confinement> confinement_;
  std::unique_ptr<ProtectedPaths> protected_paths_;  ///< where no mount guards them
  std::unique_ptr<Signals> signals_;
  Redactor redactor_;
  std::unique_ptr<Transcript> transcript_;
  std::unique_ptr<EventWriter> event_writer_;  ///< to stdout, where --json asks for it
  std::unique_ptr<ErrorStream> errors_;        ///< stderr; through that writer where it is stdout
  std::unique_ptr<Progress> progress_;
  std::unique_ptr<EventsJsonl> live_events_;  ///< what the event writer writes
  bool reader_stalls_ = false;                ///< events are not written since nobody took them
  EventFanout events_{redactor_};
  std::atomic<bool> proving_ = false;  ///< the canary's own connections are on no record
  std::unique_ptr<Egress> egress_;
  bool secrets_known_ = false;
  std::vector<std::string> secrets_;  ///< that no command may find
  std::vector<std::string> not_looked_for_;
  ProxySettings proxy_;
  ModelKeys keys_;
  std::optional<RunSignIn> sign_in_;
  std::unique_ptr<WholeOutputs> outputs_;
  std::unique_ptr<Agent> agent_;
  std::optional<AnswerCheck> answer_check_;  ///< where the task has an output schema
  bool answered_ = false;                    ///< the last message ended the agent's turn, and fits
  std::optional<std::size_t> stage_;         ///< the one that is under way
  int stage_began_ = 0;                      ///< the turn before it
  std::optional<LoopResult> without_message_;  ///< how the agent's turn ended, where it had none
  int failed_rounds_ = 0;                      ///< of verification and expectations
  /// The tree that passed the verification of a stage; nothing: none did, or it can't be told.
  std::optional<std::string> verified_tree_;
  std::optional<Diff> diff_;
  bool diff_failed_ = false;
  std::optional<ChangedState> verified_state_;  ///< what the last verification has passed
  std::optional<LinkLeads> leads_at_start_;     ///< once they are asked for
  std::set<std::int64_t> taken_empty_;          ///< ns: when empty files among these were written
  KeptFiles taken_;                             ///< what stood under protected names that were made
  std::set<std::string> made_by_verification_;  ///< paths that no call of the agent made
  bool leaks_in_binary_ = false;
  std::filesystem::path notes_file_;  ///< of context.carry_over; "" for none
  std::string old_notes_;             ///< what an earlier run left in it
  std::string new_notes_;             ///< for the runs to come; redacted
  std::string message_;               ///< the agent's final one and a newline, redacted
  int turn_ = 0;
};

}  // namespace sortie
