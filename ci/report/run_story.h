#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ci/report/excerpt.h"
#include "ci/report/known_number.h"
#include "core/record/events.h"

namespace sortie {

// A run as a value for people, from which summary.md, report.html, other formats and `sortie show`
// are made. All texts are as Excerpt has them: readable, not escaped for any format. All numbers and
// times are as known_number.h has them: kUnknown where a record has nonsense.

/// In StoryVerdict::next, between a command that shows what failed and the rest of the sentence.
inline constexpr std::string_view kShownByHand = " shows it by hand; ";
/// The bytes at the beginning of such a sentence that are a command; all of `git apply …`.
std::size_t command_in_next(std::string_view next) noexcept;

/// How the run ended.
struct StoryVerdict {
  bool ended = false;                 ///< false: it was killed, or is at work
  std::string status = "unfinished";  ///< as in result.json
  int code = -1;                      ///< exit code; -1: no end, or one that contradicts itself
  std::string cause{};                ///< a sentence
  std::string next{};                 ///< what to do; may be ""
  bool retryable = false;
  std::optional<std::int64_t> retry_after_s{};
  std::optional<bool> verified{};
};

/// What was run, on what, and within which limits.
struct StorySetting {
  std::string run_id;
  std::string sortie;  ///< version
  std::string task_name;
  std::string task_path;
  std::string task_digest;  ///< "sha256:…"
  std::string policy_name;  ///< its path, or "preset auto"
  std::string policy_digest;
  std::string model_requested;
  std::string model_served;
  std::string approval;  ///< mode
  std::string workspace;
  std::string base_commit;
  std::string isolation;
  std::string isolation_reason;
  std::string sandbox_mode;
  std::string network;
  std::vector<std::string> missing_layers;
  struct Guarantee {
    std::string name;
    bool proved = false;
    std::string detail;
  };
  std::vector<Guarantee> guarantees;  ///< of a run that ended
  std::string started;                ///< RFC 3339, UTC
  int resumed = 0;                    ///< how often it went on after a stop
};

struct StoryCommand {
  std::string command;  ///< as the task has it
  bool setup = false;
  bool done = false;  ///< false: it was cut off
  bool passed = false;
  std::string ending{};  ///< "exit 1", "timed out"; "" for a success
  std::chrono::milliseconds duration{0};
  Excerpt output{};
  std::string compared{};  ///< with the start state
};

/// The commands of one verification.
struct StoryRound {
  VerificationPhase phase = VerificationPhase::after;
  int number = 1;
  bool passed = false;
  std::vector<StoryCommand> commands;
};

/// A call that was denied, or a host that commands tried to reach in vain.
struct StoryDenial {
  std::string tool;   ///< "network" for a host
  std::string what;   ///< the command or path, or the host with its port
  bool host = false;  ///< then all else but reason, count, yaml and lists is unset
  Ruling ruling = Ruling::deny;
  bool audited = false;  ///< it was run nevertheless, by the approval mode audit
  std::string rule{};    ///< "policy.yaml:12: deny git push"; "" without a rule
  std::string reason{};
  std::string part{};  ///< of the command, that was denied
  int count = 1;
  std::string yaml{};                ///< lines of a policy that would allow it; "" if none would
  std::vector<std::string> lists{};  ///< of the policy, that these lines add to: "network.allow"
};

struct StoryHunk {
  std::string header;         ///< "@@ -1,3 +1,4 @@ f()"
  std::int64_t old_line = 0;  ///< first
  std::int64_t new_line = 0;
  std::vector<std::string>
      lines;  ///< with their sign: "+…", "-…", " …", "\ No newline at end of file"
};

enum class StoryFileKind { added, deleted, renamed, modified };

/// A file of the diff.
struct StoryFile {
  std::string path;
  std::string old_path{};  ///< of a rename
  std::string submodule{};
  StoryFileKind kind = StoryFileKind::modified;
  std::string old_mode{};  ///< "100644"; only where the mode differs
  std::string new_mode{};
  bool binary = false;
  std::int64_t added = 0;  ///< lines; kUnknown where only the record names the file
  std::int64_t removed = 0;
  std::vector<StoryHunk> hunks{};
  std::int64_t left_out = 0;     ///< lines of the diff that `hunks` lack, by their limit
  bool by_agent = false;         ///< a patch of the agent wrote it
  bool by_command = false;       ///< a command that the agent ran
  bool by_verification = false;  ///< a command of the verification
};

/// "+3 -1", or "lines unknown"
std::string words_of_lines(std::int64_t added, std::int64_t removed);

/// A changed file that the diff does not have.
struct StoryLeftOut {
  std::string path;
  std::string why;  ///< "ignored", or a word of result.json's left_out
  std::string detail;
};

struct StoryChanges {
  std::string name;       ///< "changes.diff", "partial.diff"; "": there is none
  std::string problem{};  ///< why the diff could not be read; "" if it was
  std::vector<StoryFile> files{};
  std::size_t more_files = 0;  ///< beyond the limit
  std::int64_t added = 0;      ///< as in StoryFile
  std::int64_t removed = 0;
  std::vector<StoryLeftOut> left_out{};
  std::vector<std::string> conflicts{};
  std::optional<bool> applied{};
};

/// What the answer of a review says of a line.
struct StoryFinding {
  std::string file;  ///< as it says
  std::int64_t line = 0;
  std::string severity;
  std::string message;
  std::string suggestion;
};

struct StoryUsage {
  std::int64_t input = 0;   ///< tokens, with cached ones
  std::int64_t cached = 0;  ///< part of input
  std::int64_t output = 0;
  std::int64_t reasoning = 0;  ///< part of output
  bool estimated = false;
  std::optional<double> usd{};  ///< nothing: unknown
  std::int64_t fresh() const noexcept { return known_rest(input, cached); }
  std::int64_t total() const noexcept { return known_sum(input, output); }
};

struct StoryTimes {
  std::chrono::milliseconds model{0};
  std::chrono::milliseconds tools{0};
  std::chrono::milliseconds verification{0};
  std::chrono::milliseconds own{0};
  std::chrono::milliseconds total() const {
    return known_sum(known_sum(model, tools), known_sum(verification, own));
  }
};

struct StoryCall {
  std::string id;
  std::string tool;
  std::string server{};  ///< MCP
  std::string what{};    ///< "git status", "src/a.c": one line; "" if the arguments say all
  Excerpt arguments{};   ///< as sent
  std::optional<Ruling> ruling{};
  bool audited = false;
  std::string rule{};
  std::string reason{};    ///< of a denial
  std::string approver{};  ///< its answer
  bool ran = false;
  bool done = false;  ///< false: it was cut off
  bool success = false;
  std::string ending{};  ///< "exit 1"; "" for a success
  std::chrono::milliseconds duration{0};
  Excerpt output{};
  std::vector<std::string> changed{};  ///< "A path"; the first 50
};

/// One request to the model, with its calls.
struct StoryTurn {
  int number = 0;
  std::chrono::system_clock::time_point began{};
  std::string stage{};
  std::string model{};
  bool answered = false;
  bool aside = false;  ///< not part of the conversation: a summary, run notes
  StoryUsage usage{};
  StoryTimes times{};
  std::string stop_reason{};
  Excerpt words{};      ///< of the agent
  Excerpt reasoning{};  ///< the summary
  std::vector<StoryCall> calls{};
};

/// Anything else that happened.
struct StoryNote {
  enum class Kind {
    resumed,
    stage,
    stage_end,
    retry,
    fallback,
    cut_off,
    check,
    compaction,
    budget,
    plan,
    connection,
    server
  };
  Kind kind = Kind::check;
  std::string text;  ///< a sentence
  bool problem = false;
  Excerpt detail{};
};

/// One step of the timeline: an index into `turns`, `rounds` or `notes`.
struct StoryStep {
  enum class Kind { turn, round, note };
  Kind kind = Kind::note;
  std::size_t index = 0;
};

/// One of several attempts at the task.
struct StoryAttempt {
  std::int64_t number = 0;
  std::string status;
  std::optional<bool> verified{};
  std::int64_t files = 0;  ///< of its diff
  std::int64_t lines = 0;
  std::int64_t turns = 0;
  std::int64_t tokens = 0;
  std::optional<double> usd{};
  std::chrono::milliseconds duration{0};
  bool picked = false;
  std::string why{};  ///< it was picked, or was not
};

/// What a run was picked from.
struct StoryBestOf {
  std::vector<StoryAttempt> attempts{};
  std::string pick{};       ///< the rule
  std::int64_t tokens = 0;  ///< of all of them
  std::optional<double> usd{};
  std::chrono::milliseconds duration{0};
};

struct StoryStage {
  std::string name;
  std::int64_t turns = 0;
  std::string ended;  ///< "completed", "failed", "not-started", "under-way"
};

/// A whole run.
struct RunStory {
  StoryVerdict verdict{};
  StorySetting setting{};
  std::vector<StoryRound> rounds{};
  std::vector<StoryDenial> denials{};  ///< the most frequent first
  int denied_calls = 0;
  int denied_connections = 0;
  std::string
      allowing_all{};  ///< lines of a policy for all of them; "": not more than those of one
  StoryChanges changes{};
  Excerpt message{};                     ///< the agent's final one
  std::vector<StoryFinding> findings{};  ///< of that message, if it is JSON that has such
  std::size_t more_findings = 0;         ///< beyond the limit
  StoryUsage usage{};
  StoryTimes times{};
  std::vector<StoryTurn> turns{};
  std::vector<StoryNote> notes{};
  std::vector<StoryStep> timeline{};
  std::vector<StoryStage> stages{};
  StoryBestOf best_of{};  ///< of a run of several attempts; all else is that of the picked one
  std::vector<std::string> warnings{};
  int tool_calls = 0;
  int retries = 0;
  std::uint64_t records = 0;                       ///< that people can read of, but ends
  std::map<std::string, std::string> artifacts{};  ///< as the end names them: "sha256:…"
  std::string problem{};  ///< the record ends early: "transcript.jsonl:18: …"; "" if it does not

  /// "2 calls, 1 connection": what was denied.
  std::string denied_words() const;
  /// The round that explains a failure: the last one that did not pass; nothing if the last passed.
  const StoryRound* failing_round() const;
};

}  // namespace sortie
