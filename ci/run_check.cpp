#include "ci/run_check.h"

#include "ci/attempts.h"
#include "ci/attestation.h"
#include "ci/diff_check.h"
#include "ci/result_check.h"
#include "core/files/files.h"
#include "core/json/json.h"
#include "core/record/anchor_check.h"
#include "core/record/transcript.h"

namespace sortie {

namespace {

constexpr std::uint64_t kMostOfResult = 64u << 20;

std::filesystem::path transcript_of(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) ? path / kTranscriptName : path;
}

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
    const RunCheck one = check_run(folder / name, options);
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

}  // namespace

RunCheck check_run(const std::filesystem::path& path, const RunCheckOptions& options) {
  RunCheck check{.record = verify_run(path), .notes = {}};
  VerifyResult& record = check.record;
  if (record.ok) record.problem = result_mismatch(path);
  std::error_code error;
  if (record.problem.empty() && record.finished && std::filesystem::is_directory(path, error)) {
    DiffCheck diff = check_recorded_diff(path, options.repository);
    record.problem = std::move(diff.problem);
    check.notes = std::move(diff.notes);
    if (record.problem.empty()) record.problem = attestation_mismatch(path);
    if (record.problem.empty()) check_attempts(path, options, check);
  }
  if (record.problem.empty() && !options.anchor.empty()) {
    record.problem = anchor_mismatch(options.anchor, transcript_of(path));
    if (record.problem.empty()) check.notes.push_back("the anchor has the same record");
  }
  record.ok = record.problem.empty();
  return check;
}

}  // namespace sortie
