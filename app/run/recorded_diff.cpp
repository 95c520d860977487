#include "app/run/recorded_diff.h"

#include <optional>
#include <system_error>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/files.h"
#include "core/git/config/git_place.h"
#include "core/git/git_repository.h"
#include "core/record/transcript.h"
#include "core/record/transcript_reader.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostOfDiff = 1u << 30;

/// What git has of the file, or "" for what is none.
std::string content_at(const fs::path& file) {
  std::error_code error;
  const auto status = fs::symlink_status(file, error);
  if (fs::is_symlink(status)) return fs::read_symlink(file, error).string();
  return fs::is_regular_file(status) ? read_file(file, kMostOfDiff) : "";
}

}  // namespace

Diff recorded_diff(const fs::path& folder, const fs::path& workspace) {
  Diff diff;
  diff.text = read_file(folder / "changes.diff", kMostOfDiff);
  const std::string digest = sha256_hex(diff.text);
  std::optional<DiffWritten> written;
  const fs::path transcript = folder / kTranscriptName;
  read_transcript(transcript, [&](const TranscriptRecord& record) {
    if (record.type != "diff.written") return;
    const RunEvent event = event_with_blobs(record, transcript);
    if (const auto* one = std::get_if<DiffWritten>(&event.what); one && one->sha256 == digest)
      written = *one;
  });
  if (!written) throw Error("the transcript has no record of changes.diff", ExitCode::integrity);
  const GitPlace place = find_git_place(workspace);
  const fs::path top = place.toplevel.empty() ? workspace : place.toplevel;
  for (const DiffedFile& file : written->files) {
    if (file.old_path.empty() || !file.before) continue;
    // The text of a mere renaming does not say what is renamed.
    const std::string content = content_at(top / file.old_path);
    const bool same = sha256_hex(content) == file.before->sha256;
    diff.moved_ids[file.old_path] = same ? id_text(blob_id(content)) : std::string(40, '0');
  }
  return diff;
}

}  // namespace sortie
