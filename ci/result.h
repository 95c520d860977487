#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ci/tally.h"
#include "ci/verification.h"
#include "core/base/error.h"
#include "core/base/exit_code.h"
#include "core/json/json.h"
#include "core/secrets/redact.h"
#include "core/workspace/diff/diff.h"

namespace sortie {

/// The content of result.json.
struct RunResult {
  ExitCode code = ExitCode::success;
  bool nothing_to_do = false;  ///< a success with the status "nothing-to-do"
  std::string reason;          ///< one sentence: the cause
  Cause cause = Cause::other;  ///< of a failure of the environment
  std::string next;            ///< what to do about it
  std::optional<std::chrono::milliseconds> retry_after{};
  /// Whether the same command may succeed later; nothing: as its exit code says.
  std::optional<bool> retryable{};

  std::string run_id;
  std::string run_key;
  std::string name;  ///< of the task
  std::string requested_model;
  std::chrono::system_clock::time_point started{};
  std::chrono::milliseconds duration{0};

  std::map<std::string, std::string> digests;    ///< "task", "policy", … → "sha256:…"
  std::map<std::string, std::string> artifacts;  ///< file name in --out → "sha256:…"
  Json guarantees = Json::object();              ///< "writes" → {"proved","detail"}
  Json layers = Json::object();                  ///< sandbox layers in force and missing
  std::string approval;                          ///< mode in force
  std::string isolation;
  std::string isolation_reason;

  std::optional<VerificationResult> verification_before{};
  std::optional<VerificationResult> verification{};  ///< of the last round; nothing: none completed
  int verification_rounds = 0;
  std::optional<bool> verified{};  ///< nothing: the task has no verification, or none was reached

  /// A stage of the task.
  struct Stage {
    std::string name;
    int turns = 0;
    std::string ended = "not-started";  ///< "completed" | "failed" | "not-started"
  };
  std::vector<Stage> stages;

  std::vector<std::string> ignored_changes;
  std::vector<std::string> applies_to;
  std::string base;         ///< "start" | "head"
  std::string head_commit;  ///< "" if there is none
  int changed_files = 0;    ///< in submodules, too, like the next two
  /// Whether there is a diff to be made: an `exec` without --out and --diff keeps no start for one.
  bool changes_known = true;
  std::int64_t added_lines = 0;  ///< of the diff
  std::int64_t removed_lines = 0;
  /// The diff of a submodule.
  struct Submodule {
    std::string path;
    std::string diff;  ///< its name in --out
    std::vector<std::string> applies_to;
    std::string base;
    std::string head_commit;
    int changed_files = 0;
    std::int64_t added_lines = 0;
    std::int64_t removed_lines = 0;
  };
  std::vector<Submodule> submodules;  ///< those whose diff was written
  std::vector<LeftOut> left_out;
  std::vector<TooLarge> too_large;
  std::vector<std::string> conflicts;        ///< files that the user changed too
  std::optional<bool> applied{};             ///< --apply; nothing: not given
  std::vector<std::string> applied_paths{};  ///< what was written into the workspace
  std::map<std::string, std::string> kept;   ///< path below OUT/kept → "sha256:…"
  std::string verified_in;                   ///< "fresh" or "run"; "": no verification ran
  std::string verified_diff;                 ///< "sha256:…" of the last verified diff, or ""
  std::vector<std::string> restored;         ///< by the last verification: verify.restore
  std::vector<std::string> changed_by_verification;  ///< by the last round that changed files
  bool survivors_excluded = true;                    ///< proved that no process is left
  std::vector<std::string> warnings;
};

/// "success", "nothing-to-do", "task-failed", ….
std::string status_of(const RunResult& result);

/// All of result.json, not redacted.
Json result_json(const RunResult& result, const Tally& tally);

/// {"status":"running","run_id","run_key","version",…}: result.json during the run.
/// @param saves  the names that the run's stages will save, so that they are known if it is killed
Json running_json(const std::string& run_id, const std::string& run_key,
                  const std::vector<std::string>& saves = {});

/// The bytes of a result.json.
std::string result_text(const Json& result);
/// The same, redacted for people.
std::string result_text(const Json& result, const Redactor& redactor);

/// The result that the last record has, with the digest of that record.
/// @param recorded  RunEnd::result @param transcript_sha256  hex, of the record's line
Json result_of_record(const Json& recorded, const std::string& transcript_sha256);

/// The last line on stderr, redacted and without its newline:
/// "sortie: STATUS (CODE): cause; last: …; next: …; see OUT/summary.md", or result.json
/// where that was not written.
/// @param last  Tally::last_action; may be ""
/// @param out   --out as the user wrote it; "" if nothing is written
std::string last_line(const RunResult& result, const std::string& last, const std::string& out,
                      const Redactor& redactor);

/// The lines above the last one, for people: what was changed and used, and where the artifacts
/// are. Nothing of others is in them.
/// @param out  as for last_line()
std::vector<std::string> sum_lines(const RunResult& result, const Tally& tally,
                                   const std::string& out);

/// JSON Schema (draft 2020-12) of result.json.
Json result_schema();

}  // namespace sortie
