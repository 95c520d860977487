#include "ci/recorded_diff.h"

#include <algorithm>
#include <vector>

#include "core/base/hash.h"
#include "core/record/diff_names.h"
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

void each_of(const std::filesystem::path& transcript, const std::string& type,
             const std::function<void(const RunEvent&)>& each);

}  // namespace recorded_diff

/// Passes on the records of one type, in their order; others are not parsed.
void recorded_diff::each_of(const std::filesystem::path& transcript, const std::string& type,
                            const std::function<void(const RunEvent&)>& each) {
  const std::string sign = "\"type\":\"" + type + "\"";
  each_record_line(transcript, [&](std::string_view line) {
    if (line.find(sign) == line.npos) return true;
    const TranscriptRecord record = parse_record(line);
    if (record.type == type) each(event_with_blobs(record, transcript));
    return true;
  });
}

// One record of each diff is held at a time, however many a transcript has.
std::vector<RecordedDiff> read_recorded_diffs(const std::filesystem::path& transcript) {
  RunEnd completed;
  recorded_diff::each_of(transcript, "run.completed",
                         [&](const RunEvent& event) { completed = std::get<RunEnd>(event.what); });
  std::vector<RecordedDiff> found;
  for (const auto& [name, digest] : completed.artifacts)
    if (is_diff_name(name)) found.push_back({.name = name});
  recorded_diff::each_of(transcript, "diff.written", [&](const RunEvent& event) {
    const auto& diff = std::get<DiffWritten>(event.what);
    for (RecordedDiff& one : found)
      if (one.name == diff.name && "sha256:" + diff.sha256 == completed.artifacts.at(one.name))
        one.record = diff;
  });
  std::stable_sort(found.begin(), found.end(), [](const RecordedDiff& a, const RecordedDiff& b) {
    return submodule_of_diff(a.name) < submodule_of_diff(b.name);
  });
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
