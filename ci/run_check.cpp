#include "ci/run_check.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ci/attempts.h"
#include "ci/attestation.h"
#include "ci/diff_check.h"
#include "ci/result_check.h"
#include "ci/start_check.h"
#include "core/files/files.h"
#include "core/json/json.h"
#include "core/record/anchor_check.h"
#include "core/record/transcript.h"
#include "core/record/transcript_reader.h"
#include "core/task/task.h"
#include "core/text/text.h"

namespace sortie {

namespace {

constexpr std::uint64_t kMostOfResult = 64u << 20;

std::filesystem::path transcript_of(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) ? path / kTranscriptName : path;
}

/// An attempt has no attempts of its own.
enum class IsAttempt { no, yes };
RunCheck check_one(const std::filesystem::path& path, const RunCheckOptions& options,
                   IsAttempt is_attempt);

/// What the folder of an attempt has of a record.
enum class AttemptRecord {
  none,   ///< nothing: it was killed before it wrote its first one, or was not started
  torn,   ///< as much of its first one as it could write before it was killed
  begun,  ///< one to be checked, or something else
};

AttemptRecord record_of(const std::filesystem::path& folder) {
  const std::filesystem::path transcript = folder / kTranscriptName;
  std::error_code error;
  const auto status = std::filesystem::symlink_status(transcript, error);
  if (!std::filesystem::exists(status)) return AttemptRecord::none;
  return std::filesystem::is_regular_file(status) && beginning_of(transcript) == Beginning::torn
             ? AttemptRecord::torn
             : AttemptRecord::begun;
}

/// Whether the run says that the attempt has come to a record: to an end of its own, or to work that it
/// counts.
bool has_begun(const Json& said) {
  return !said["transcript"].is_null() || said.integer_at("turns") != 0 ||
         said.integer_at("tool_calls") != 0 || said.integer_at("tokens") != 0;
}

/// The attempts in their folders, each checked as a run.
class AttemptsCheck {
 public:
  AttemptsCheck(const std::filesystem::path& folder, const RunCheckOptions& options)
      : folder_(folder), options_(options) {}

  /// @param said  what the run says of it; null: nothing, since it has not ended
  /// @return      nothing where there is no record to check
  std::optional<RunCheck> take(int number, const Json& said) {
    const std::string name = attempt_folder(number);
    std::error_code error;
    const auto place = std::filesystem::symlink_status(folder_ / name, error);
    if (std::filesystem::exists(place) && !std::filesystem::is_directory(place)) {
      problem_ = name + " is not a folder";
      return std::nullopt;
    }
    const AttemptRecord record = record_of(folder_ / name);
    if (record != AttemptRecord::begun) {
      if (has_begun(said))
        problem_ = name + ": " + kTranscriptName +
                   (record == AttemptRecord::none ? " is missing" : " holds no whole record") +
                   ", though result.json says what the attempt has done";
      else if (record == AttemptRecord::torn)
        never_begun_.push_back(name);
      return std::nullopt;
    }
    RunCheck one = check_one(folder_ / name, options_, IsAttempt::yes);
    if (!one.record.ok) problem_ = name + ": " + one.record.problem;
    ++checked_;
    return one;
  }

  const std::string& problem() const { return problem_; }
  /// "attempts: 2 checked in their own folders"; "" if there are none.
  std::string note(const std::string& more) const {
    std::string text;
    if (checked_ > 0 || !never_begun_.empty())
      text = "attempts: " + std::to_string(checked_) + " checked in their own folders" + more;
    if (!never_begun_.empty())
      text += "; killed before its first record: " + joined(never_begun_, ", ");
    return text;
  }

 private:
  const std::filesystem::path& folder_;
  const RunCheckOptions options_;
  int checked_ = 0;
  std::vector<std::string> never_begun_;
  std::string problem_;
};

/// Checks the attempts that a run was picked from.
void check_attempts(const std::filesystem::path& folder, const RunCheckOptions& options,
                    RunCheck& check) {
  const std::filesystem::path result = folder / "result.json";
  std::error_code error;
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(result, error))) return;
  AttemptsCheck attempts(folder, options);
  const Json picked_of = parse_json(read_file(result, kMostOfResult));
  for (const Json& said : picked_of["attempts"].items()) {
    (void)attempts.take(static_cast<int>(said.integer_at("n")), said);
    check.record.problem = attempts.problem();
    if (!check.record.problem.empty()) return;
  }
  if (const std::string note = attempts.note(", and their comparison"); !note.empty())
    check.notes.push_back(note);
}

/// Whether it is the folder of several attempts of which none was picked: the run is under way, was
/// killed, or could not hand over. Then the folders of the attempts have all there is.
bool has_attempts_alone(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error) ||
      std::filesystem::exists(std::filesystem::symlink_status(path / kTranscriptName, error)))
    return false;
  for (int number = 1; number <= kMostAttempts; ++number)
    if (std::filesystem::exists(path / attempt_folder(number) / kTranscriptName, error))
      return true;
  return false;
}

/// What the top says of its own: no record proves more of it than that it fits the attempts.
/// @param attempts  gets what it says of each, once it has ended
std::string top_problem(const std::filesystem::path& folder, bool& ended, std::string& status,
                        Json& attempts) {
  const std::filesystem::path file = folder / "result.json";
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::symlink_status(file, error))) return "";
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(file, error)))
    return "result.json is not a file";
  try {
    const Json result = parse_json(read_file(file, kMostOfResult));
    status = result.string_at("status");
    ended = status != "running";
    if (!ended) return "";
    if (status == "success" || status == "nothing-to-do")
      return "result.json: the status is \"" + status + "\", but there is no " + kTranscriptName;
    attempts = result["attempts"];
    const std::string mismatch = attempts_mismatch(result, folder);
    return mismatch.empty() ? "" : "result.json: " + mismatch;
  } catch (const std::exception& problem) {
    return std::string("result.json: can't be read: ") + problem.what();
  }
}

RunCheck check_one(const std::filesystem::path& path, const RunCheckOptions& options,
                   IsAttempt is_attempt) {
  RunCheck check{.record = verify_run(path), .notes = {}};
  VerifyResult& record = check.record;
  if (record.ok) record.problem = result_mismatch(path);
  if (record.problem.empty()) record.problem = start_changes_mismatch(transcript_of(path));
  std::error_code error;
  if (record.problem.empty() && record.finished && std::filesystem::is_directory(path, error)) {
    DiffCheck diff = check_recorded_diff(path, options.repository);
    record.problem = std::move(diff.problem);
    check.notes = std::move(diff.notes);
    if (record.problem.empty()) record.problem = attestation_mismatch(path);
    if (record.problem.empty() && is_attempt == IsAttempt::no) check_attempts(path, options, check);
  }
  if (record.problem.empty() && !options.anchor.empty()) {
    const AnchorCheck anchor = check_anchor(options.anchor, transcript_of(path));
    record.problem = anchor.mismatch;
    if (record.problem.empty())
      check.notes.push_back("the anchor has the same record" +
                            (anchor.known == anchor.records ? ""
                                                            : ", of which it knows the first " +
                                                                  std::to_string(anchor.known)));
  }
  record.ok = record.problem.empty();
  return check;
}

/// The sum of the attempts' records.
RunCheck check_attempts_alone(const std::filesystem::path& folder, const RunCheckOptions& options) {
  RunCheck check;
  VerifyResult& record = check.record;
  bool ended = false;
  std::string status;
  Json said;
  record.problem = top_problem(folder, ended, status, said);
  AttemptsCheck attempts(folder, {.repository = options.repository, .anchor = {}});
  for (int number = 1; number <= kMostAttempts && record.problem.empty(); ++number) {
    const auto of_it =
        std::find_if(said.items().begin(), said.items().end(),
                     [number](const Json& one) { return one.integer_at("n") == number; });
    const auto one = attempts.take(number, of_it == said.items().end() ? Json() : *of_it);
    record.problem = attempts.problem();
    if (!one) continue;
    record.records += one->record.records;
    record.blobs += one->record.blobs;
    for (const std::string& artifact : one->record.artifacts)
      record.artifacts.push_back(attempt_folder(number) + "/" + artifact);
  }
  if (record.problem.empty() && !options.anchor.empty())
    record.problem = "--anchor is of the record of a picked attempt, and none was picked";
  record.ok = record.problem.empty();
  record.finished = ended;
  check.notes.push_back(attempts.note(
      std::string("; at the top nothing ") +
      (ended ? "was handed over: result.json says " + status : "is handed over yet")));
  return check;
}

}  // namespace

RunCheck check_run(const std::filesystem::path& path, const RunCheckOptions& options) {
  if (has_attempts_alone(path)) return check_attempts_alone(path, options);
  return check_one(path, options, IsAttempt::no);
}

}  // namespace sortie
