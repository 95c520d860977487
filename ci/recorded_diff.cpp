#include "ci/recorded_diff.h"

#include <algorithm>
#include <vector>

#include "core/base/hash.h"
#include "core/record/run_events.h"
#include "core/record/transcript_reader.h"

namespace sortie {
namespace recorded_diff {

using Kind = FileStatus::Kind;
using ToGit = std::function<std::string(const std::string& path, const std::string& content)>;

/// The content of a file of that mode, or the target of a link; nothing for something else.
std::optional<std::string> content_of(const DiskFiles& files, const std::string& path,
                                      const std::string& mode) {
  const auto status = files.status(path);
  if (!status) return std::nullopt;
  if (mode == "120000")
    return status->kind == Kind::symlink ? std::optional(files.read_link(path)) : std::nullopt;
  const bool program = (status->mode & 0100) != 0;
  if (status->kind != Kind::file || program != (mode == "100755")) return std::nullopt;
  return files.read(path);
}

bool is_same(const std::string& content, const RecordedSide& side) {
  return content.size() == side.bytes && sha256_hex(content) == side.sha256;
}

bool is_at_end(const DiskFiles& files, const DiffedFile& file, const ToGit& to_git) {
  if (!file.after) return !files.status(file.path);
  const auto content = content_of(files, file.path, file.after->mode);
  if (!content) return false;
  if (is_same(*content, *file.after)) return true;
  return to_git && file.after->mode != "120000" &&
         is_same(to_git(file.path, *content), *file.after);
}

}  // namespace recorded_diff

RecordedDiff read_recorded_diff(const std::filesystem::path& transcript) {
  std::vector<DiffWritten> records;
  RunEnd completed;
  read_transcript(transcript, [&](const TranscriptRecord& record) {
    if (record.type != "diff.written" && record.type != "run.completed") return;
    const RunEvent event = event_with_blobs(record, transcript);
    if (const auto* diff = std::get_if<DiffWritten>(&event.what)) records.push_back(*diff);
    if (const auto* end = std::get_if<RunEnd>(&event.what)) completed = *end;
  });
  RecordedDiff found;
  for (const auto& [name, digest] : completed.artifacts) {
    if (name != "changes.diff" && name != "partial.diff") continue;
    found.name = name;
    for (DiffWritten& one : records)
      if (one.name == name && "sha256:" + one.sha256 == digest) found.record = std::move(one);
  }
  return found;
}

bool is_applied(const DiffWritten& diff, const DiskFiles& tree,
                const recorded_diff::ToGit& to_git) try {
  return std::all_of(diff.files.begin(), diff.files.end(), [&](const DiffedFile& file) {
    const bool moved =
        !file.old_path.empty() &&
        std::none_of(diff.files.begin(), diff.files.end(),
                     [&](const DiffedFile& one) { return one.after && one.path == file.old_path; });
    return recorded_diff::is_at_end(tree, file, to_git) && !(moved && tree.status(file.old_path));
  });
} catch (const std::exception&) {
  return false;
}

}  // namespace sortie
