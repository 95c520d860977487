#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

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
  std::string command;  ///< as written in the task
  ExitStatus exit;
  bool passed = false;
  std::string output;               ///< head and tail, valid UTF-8
  std::uint64_t dropped_bytes = 0;  ///< left out between head and tail
  std::string whole{};              ///< the file with the whole of a cut output, or ""
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
  int round = 1;                        ///< from 1
  int turn = 0;                         ///< for the records
  std::size_t shown_bytes = 10u << 10;  ///< of each output, head and tail
  std::uint64_t max_output_bytes = 64ull << 20;
  /// Redacts known secrets before the output is cut, so that no part of one remains; may be null.
  const Redactor* redactor = nullptr;
  /// Collects outputs, saving those that are too long; empty: only head and tail are kept.
  std::function<std::unique_ptr<OutputTaker>()> take_output{};
  /// The saved output at `path`, for its record.
  std::function<std::optional<SavedOutput>(const std::string& path)> find_whole{};
};

/// Runs the commands in order and stops at the first failure. Each gets its own timeout, or the
/// time left in the budget if that is less.
/// @throws Error  if a command could not be confined
VerificationResult run_verification(const std::vector<VerifyCommand>& commands, Launcher& launcher,
                                    EventSink& events, const Budget& budget,
                                    const VerificationOptions& options, std::stop_token stop);

/// The file with the whole of the last cut output, or "".
std::string last_whole(const VerificationResult& result);

/// The output of run_tests for the model: each command, how it ended, its output.
std::string verification_report(const VerificationResult& result);

/// The feedback to the model after a failed round: the command, how it ended, its output.
std::string verification_feedback(const VerificationResult& result, int round, int rounds);

/// What the verification of the start state means, given the result that the task expects.
enum class StartCheck { go_on, nothing_to_do, must_pass };
StartCheck judge_start(ExpectedStart before, bool passed);

/// Resolves `automatic`: changes are required, but forbidden in a read-only sandbox, and optional
/// if the result is the final message.
/// @return  one of the others
ExpectedChanges expected_changes(ExpectedChanges expected, bool read_only_sandbox,
                                 bool has_output_schema);

/// Checks whether the diff is what the task expects.
/// @param expected  not `automatic`
/// @return "" or the problem, worded for the agent and the operator
std::string judge_changes(ExpectedChanges expected, bool has_changes);

/// For result.json: [{"command","ending","exit_code","passed","duration_ms","output"}].
Json to_json(const VerificationResult& result);

}  // namespace sortie
