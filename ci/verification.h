#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "ci/test_output/test_results.h"
#include "core/agent/budget.h"
#include "core/process/launcher.h"
#include "core/record/events.h"
#include "core/secrets/redact.h"
#include "core/task/task.h"
#include "core/text/output_buffer.h"

namespace sortie {

/// Collects the output of one command.
class OutputTaker {
 public:
  virtual ~OutputTaker() = default;
  virtual void feed(std::string_view bytes) = 0;
  /// The output, after the last feed(): plain text, redacted, valid UTF-8.
  virtual CollectedOutput finish() = 0;
};

/// How one verification command went.
struct VerificationOutcome {
  std::string command;  ///< VerifyCommand::text
  ExitStatus exit;
  bool passed = false;
  bool setup = false;               ///< of verify.setup
  std::string output;               ///< head and tail, valid UTF-8
  std::uint64_t dropped_bytes = 0;  ///< left out between head and tail
  std::string whole{};              ///< the file with the whole of a cut output, or ""
  TestResults tests{};              ///< what the output says of tests, if that is asked for
  /// How a failure compares with that of the start state, or ""; redacted.
  std::string compared{};
};

/// How a round of verification went.
struct VerificationResult {
  std::vector<VerificationOutcome> outcomes;  ///< up to the first failure
  bool passed = true;
  bool stopped = false;  ///< by a stop request, or because the time was up
};

struct VerificationOptions {
  std::filesystem::path workdir;                   ///< absolute, as commands see it
  std::map<std::string, std::string> environment;  ///< the complete environment
  VerificationPhase phase = VerificationPhase::after;
  std::string tree{};                   ///< "fresh" or "run", for the records
  std::string diff{};                   ///< the digest of the diff that a fresh tree holds, or ""
  int round = 1;                        ///< from 1
  int turn = 0;                         ///< for the records
  std::size_t shown_bytes = 10u << 10;  ///< of each output, head and tail
  std::uint64_t max_output_bytes = 64ull << 20;
  /// Redacts known secrets before the output is cut, so that no part of one remains; may be null.
  const Redactor* redactor = nullptr;
  /// Goes on after a failure: the result is what others are compared with.
  bool all_commands = false;
  bool read_tests = false;
  /// A failure that this result had too passes (verify.baseline); may be null.
  const VerificationResult* baseline = nullptr;
  /// Called after each command that another one follows; may be empty.
  std::function<void()> between{};
  /// Collects outputs, saving those that are too long; empty: only head and tail are kept.
  std::function<std::unique_ptr<OutputTaker>()> take_output{};
  /// The saved output at `path`, for its record.
  std::function<std::optional<SavedOutput>(const std::string& path)> find_whole{};
};

/// How a failed command compares with the same command on the start state.
struct Comparison {
  bool is_new = true;  ///< it failed there otherwise, or not at all
  std::string text{};  ///< for people, without a final stop
};
/// Both by the names of their tests, if the outcome of the start state has them; else by exit code.
/// What was killed, could not be started, or did not run all its tests is never excused.
Comparison compare_failures(const VerificationOutcome& before, const VerificationOutcome& after);

/// The commands of one verification.
struct VerificationSteps {
  std::span<const VerifyCommand> setup{};  ///< each has to pass, also under a baseline
  std::span<const VerifyCommand> commands{};
};

/// Runs the commands in order and stops at the first failure. Each gets its own timeout, or the
/// time left in the budget if that is less.
/// @throws Error  if a command could not be confined
VerificationResult run_verification(const VerificationSteps& steps, Launcher& launcher,
                                    EventSink& events, const Budget& budget,
                                    const VerificationOptions& options, std::stop_token stop);

/// The result of a verification that an earlier process of the run recorded whole.
/// @param read_tests  as in VerificationOptions
VerificationResult recorded_verification(const std::vector<VerificationCompleted>& commands,
                                         bool read_tests);

/// The file with the whole of the last cut output, or "".
std::string last_whole(const VerificationResult& result);

/// The output of run_tests for the model: each command, how it ended, its output.
std::string verification_report(const VerificationResult& result);

/// The feedback to the model after a failed round: the command, how it ended, its output.
std::string verification_feedback(const VerificationResult& result, int round, int rounds);

/// What the verification of the start state means, given the result that the task expects.
enum class StartCheck { go_on, nothing_to_do, must_pass };
StartCheck judge_start(ExpectedStart before, bool passed);

/// For result.json: [{"command","ending","exit_code","passed","duration_ms","output"}], with
/// "compared" where it is set, and "setup" for a command of verify.setup.
Json to_json(const VerificationResult& result);

}  // namespace sortie
