#include "ci/run_check.h"

#include "ci/attestation.h"
#include "ci/diff_check.h"
#include "ci/result_check.h"
#include "core/record/anchor_check.h"
#include "core/record/transcript.h"

namespace sortie {

namespace {

std::filesystem::path transcript_of(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) ? path / kTranscriptName : path;
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
  }
  if (record.problem.empty() && !options.anchor.empty()) {
    record.problem = anchor_mismatch(options.anchor, transcript_of(path));
    if (record.problem.empty()) check.notes.push_back("the anchor has the same record");
  }
  record.ok = record.problem.empty();
  return check;
}

}  // namespace sortie
