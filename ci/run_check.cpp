#include "ci/run_check.h"

#include "ci/attempts.h"
#include "ci/attestation.h"
#include "ci/diff_check.h"
#include "ci/result_check.h"
#include "core/files/files.h"
#include "core/json/json.h"
#include "core/record/anchor_check.h"
#include "core/record/transcript.h"
#include "core/task/task.h"

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

/// Checks the attempts that a run was picked from, each as a run.
void check_attempts(const std::filesystem::path& folder, const RunCheckOptions& options,
                    RunCheck& check) {
  const std::filesystem::path result = folder / "result.json";
  std::error_code error;
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(result, error))) return;
  int checked = 0;
  const Json picked_of = parse_json(read_file(result, kMostOfResult));
  for (const Json& said : picked_of["attempts"].items()) {
    const std::string name = attempt_folder(static_cast<int>(said.integer_at("n")));
    if (!std::filesystem::exists(folder / name / kTranscriptName, error)) continue;
    if (!std::filesystem::is_directory(std::filesystem::symlink_status(folder / name, error))) {
      check.record.problem = name + " is not a folder";
      return;
    }
    const RunCheck one = check_one(folder / name, options, IsAttempt::yes);
    if (!one.record.ok) {
      check.record.problem = name + ": " + one.record.problem;
      return;
    }
    ++checked;
  }
  if (checked > 0)
    check.notes.push_back("attempts: " + std::to_string(checked) +
                          " checked in their own folders, and their comparison");
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
std::string top_problem(const std::filesystem::path& folder, bool& ended, std::string& status) {
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
  std::error_code error;
  if (record.problem.empty() && record.finished && std::filesystem::is_directory(path, error)) {
    DiffCheck diff = check_recorded_diff(path, options.repository);
    record.problem = std::move(diff.problem);
    check.notes = std::move(diff.notes);
    if (record.problem.empty()) record.problem = attestation_mismatch(path);
    if (record.problem.empty() && is_attempt == IsAttempt::no) check_attempts(path, options, check);
  }
  if (record.problem.empty() && !options.anchor.empty()) {
    record.problem = anchor_mismatch(options.anchor, transcript_of(path));
    if (record.problem.empty()) check.notes.push_back("the anchor has the same record");
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
  record.problem = top_problem(folder, ended, status);
  int checked = 0;
  std::error_code error;
  for (int number = 1; number <= kMostAttempts && record.problem.empty(); ++number) {
    const std::string name = attempt_folder(number);
    if (!std::filesystem::exists(folder / name / kTranscriptName, error)) continue;
    if (!std::filesystem::is_directory(std::filesystem::symlink_status(folder / name, error))) {
      record.problem = name + " is not a folder";
      break;
    }
    const RunCheck one =
        check_one(folder / name, {.repository = options.repository, .anchor = {}}, IsAttempt::yes);
    if (!one.record.ok) record.problem = name + ": " + one.record.problem;
    record.records += one.record.records;
    record.blobs += one.record.blobs;
    for (const std::string& artifact : one.record.artifacts)
      record.artifacts.push_back(name + "/" + artifact);
    ++checked;
  }
  if (record.problem.empty() && !options.anchor.empty())
    record.problem = "--anchor is of the record of a picked attempt, and none was picked";
  record.ok = record.problem.empty();
  record.finished = ended;
  check.notes.push_back(
      "attempts: " + std::to_string(checked) +
      " checked in their own folders; at the top nothing " +
      (ended ? "was handed over: result.json says " + status : "is handed over yet"));
  return check;
}

}  // namespace

RunCheck check_run(const std::filesystem::path& path, const RunCheckOptions& options) {
  if (has_attempts_alone(path)) return check_attempts_alone(path, options);
  return check_one(path, options, IsAttempt::no);
}

}  // namespace sortie
