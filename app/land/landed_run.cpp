#include "app/land/landed_run.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "app/artifacts/found_output.h"
#include "ci/attestation.h"
#include "ci/recorded_diff.h"
#include "ci/run_check.h"
#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/base/hash.h"
#include "core/base/patient_io.h"
#include "core/record/diff_names.h"
#include "core/record/transcript.h"
#include "core/record/transcript_reader.h"
#include "core/text/text.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostTranscript = 2ull << 30;
constexpr std::uint64_t kMostDiff = 256u << 20;
constexpr std::uint64_t kMostMessage = 16u << 20;

[[noreturn]] void refuse(const std::string& what) { throw Error(what, ExitCode::integrity); }

/// A file of the run that is there has to be a regular one.
void check_kind(const fs::path& folder, const char* name, std::uint64_t most) {
  struct stat status {};
  if (::lstat((folder / name).c_str(), &status) != 0) {
    if (errno == ENOENT) return;
    refuse(std::string(name) + ": " + errno_text(errno));
  }
  if (!S_ISREG(status.st_mode)) refuse(std::string(name) + " is not a regular file");
  if (static_cast<std::uint64_t>(status.st_size) > most)
    refuse(std::string(name) + " is larger than " + std::to_string(most >> 20) + " MiB");
}

void check_kinds(const fs::path& folder) {
  check_kind(folder, kTranscriptName, kMostTranscript);
  check_kind(folder, "result.json", kMostResultBytes);
  check_kind(folder, kAttestationName, kMostResultBytes);
  check_kind(folder, kChangesDiff, kMostDiff);
  check_kind(folder, "last-message.txt", kMostMessage);
  check_kind(folder, "last-message.json", kMostMessage);
  for (const char* name : {"blobs", "kept"}) {
    std::error_code error;
    const auto kind = fs::symlink_status(folder / name, error).type();
    if (kind != fs::file_type::not_found && kind != fs::file_type::directory)
      refuse(std::string(name) + " is not a folder");
  }
}

/// The content that has the digest which the transcript says: read once, then only this is used.
std::string read_artifact(const fs::path& folder, const std::string& name, const RunEnd& end,
                          std::uint64_t most) {
  const auto digest = end.artifacts.find(name);
  if (digest == end.artifacts.end()) return "";
  const Fd file(
      ::open((folder / name).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    refuse(name + " is missing, or is no regular file");
  const ReadBytes read = read_to_end(file.get(), {.max_bytes = most});
  if (!read.problem.empty()) refuse(name + ": " + read.problem);
  if ("sha256:" + sha256_hex(read.bytes) != digest->second)
    refuse(name + " is not what the transcript says");
  return read.bytes;
}

struct Ends {
  std::optional<RunStart> start;
  std::optional<RunEnd> end;
};

Ends read_ends(const fs::path& transcript) {
  Ends ends;
  read_transcript(transcript, [&](const TranscriptRecord& record) {
    if (record.type != "run.started" && record.type != "run.completed") return;
    if (!record.event()) return;
    const RunEvent event = event_with_blobs(record, transcript);
    if (const auto* start = std::get_if<RunStart>(&event.what)) ends.start = *start;
    if (const auto* end = std::get_if<RunEnd>(&event.what)) ends.end = *end;
  });
  return ends;
}

std::map<std::string, std::string> moved_ends(const RecordedDiff& diff) {
  std::map<std::string, std::string> ends;
  if (diff.record)
    for (const DiffedFile& file : diff.record->files)
      if (!file.old_path.empty() && file.after) ends.emplace(file.path, file.after->sha256);
  return ends;
}

/// What the record says of the diffs, and the diffs of submodules.
void take_diffs(const fs::path& folder, const RunEnd& end, LandedRun& run) {
  std::string prefix;  // of the workspace in its repository
  for (const RecordedDiff& one : read_recorded_diffs(folder / kTranscriptName)) {
    const std::string submodule = submodule_of_diff(one.name);
    if (submodule.empty()) {
      if (one.record) prefix = one.record->prefix;
      run.moved_ends = moved_ends(one);
    } else if (one.name == diff_name(kChangesDiff, submodule)) {
      run.submodules.push_back(
          {prefix + submodule, read_artifact(folder, one.name, end, kMostDiff), moved_ends(one)});
    }
  }
}

std::optional<std::int64_t> limit_of(const Json& value) {
  const auto limit = value.integer();
  return limit && *limit >= 0 ? limit : std::nullopt;
}

void take_task(const std::string& text, LandedRun& run) {
  Json task;
  try {
    task = parse_json(text);
  } catch (const JsonError& error) {
    refuse(std::string("the recorded task can't be read: ") + error.what());
  }
  const Json& diff = task["expect"]["diff"];
  run.expected = {.max_files = limit_of(diff["max_files"]),
                  .max_lines = limit_of(diff["max_lines"]),
                  .allow = diff["allow"].texts(),
                  .deny = diff["deny"].texts()};
  run.task = task.string_at("name");
}

Json findings_of(const std::string& answer) {
  try {
    const Json json = parse_json(answer);
    return json["findings"].is_array() ? json["findings"] : Json();
  } catch (const JsonError&) {
    return {};
  }
}

}  // namespace

LandedRun read_landed_run(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    throw Error(folder.string() + ": not the folder of a run", ExitCode::usage);
  check_kinds(folder);
  const VerifyResult verified = check_run(folder).record;
  if (!verified.ok) refuse(verified.problem);
  const Ends ends = read_ends(folder / kTranscriptName);
  if (!verified.finished || !ends.start || !ends.end)
    throw Error(folder.string() + ": the run has not ended, so there is nothing to land",
                ExitCode::usage);
  if (ends.end->code != ExitCode::success)
    throw Error(
        folder.string() + ": the run ended with the status " +
            one_line(ends.end->status.empty() ? status_word(ends.end->code) : ends.end->status,
                     40) +
            ": only a success is landed; its result.json says what to do about it",
        ExitCode::usage);
  LandedRun run;
  run.run_id = one_line(repair_utf8(ends.start->run_id), 60);
  run.base_commit = one_line(repair_utf8(ends.start->workspace.base_commit), 64);
  run.model = one_line(repair_utf8(ends.start->model.string_at("provider") + " " +
                                   ends.start->model.string_at("name")),
                       100);
  if (const Json& passed = ends.end->result["verified"]; passed.is_boolean())
    run.verified = passed.boolean();
  take_task(ends.start->task.text, run);
  run.diff = read_artifact(folder, kChangesDiff, *ends.end, kMostDiff);
  take_diffs(folder, *ends.end, run);
  run.diff_digest = digest_of_diffs(ends.end->artifacts);
  if (run.diff_digest.empty()) run.diff_digest = "sha256:" + sha256_hex(run.diff);
  run.message = read_artifact(folder, "last-message.txt", *ends.end, kMostMessage);
  const std::string answer = read_artifact(folder, "last-message.json", *ends.end, kMostMessage);
  run.findings = findings_of(answer);
  if (run.message.empty()) run.message = answer;
  return run;
}

}  // namespace sortie
