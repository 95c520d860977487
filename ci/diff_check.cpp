#include "ci/diff_check.h"

#include <optional>

#include "ci/recorded_diff.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/git/commit_files.h"
#include "core/record/transcript.h"
#include "core/text/base64.h"
#include "core/text/text.h"
#include "core/workspace/diff/diff_proof.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

std::optional<DiffSide> side_of(const std::optional<RecordedSide>& side) {
  if (!side) return std::nullopt;
  unsigned mode = 0;
  for (const char digit : side->mode) mode = mode << 3 | static_cast<unsigned>(digit & 7);
  return DiffSide{mode, side->sha256, side->bytes};
}

std::vector<DiffFile> files_of(const DiffWritten& record) {
  std::vector<DiffFile> files;
  for (const DiffedFile& one : record.files) {
    DiffFile file;
    file.path = one.path;
    file.old_path = one.old_path;
    file.before = side_of(one.before);
    file.after = side_of(one.after);
    file.in_head = one.in_commit;
    if (!one.base_content.empty() || (file.before && file.before->bytes == 0))
      file.base_content = base64_decoded(one.base_content);
    files.push_back(std::move(file));
  }
  return files;
}

constexpr std::uint64_t kMostOfFile = 256u << 20;

/// A file or link of a working tree; nothing if it is not there, or something else.
std::optional<std::string> tree_content(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (fs::is_symlink(status)) return fs::read_symlink(path, error).string();
  if (!fs::is_regular_file(status)) return std::nullopt;
  TextFile file = read_bytes_file(path, kMostOfFile);
  return file.problem.empty() ? std::optional(std::move(file.text)) : std::nullopt;
}

/// Finds the contents of the base.
class Base {
 public:
  Base(const DiffWritten& record, const fs::path& repository)
      : record_(record), repository_(repository) {
    if (repository.empty() || record.base_commit.empty()) return;
    commit_.emplace(repository, record.base_commit);
    if (!commit_->problem().empty()) throw Error(commit_->problem(), ExitCode::usage);
  }

  std::optional<std::string> content(const DiffFile& file) const {
    const std::string path = record_.prefix + (file.old_path.empty() ? file.path : file.old_path);
    if (file.in_head) return commit_ ? commit_->content(path) : std::nullopt;
    if (file.base_content) return file.base_content;
    const fs::path normal = fs::path(path).lexically_normal();
    if (repository_.empty() || normal.is_absolute() || *normal.begin() == "..")
      return std::nullopt;  // a record is data: it must not lead elsewhere
    // Too large for the record: the working tree may have it still.
    const fs::path place =
        commit_ ? commit_->toplevel() / path : repository_ / path.substr(record_.prefix.size());
    auto found = tree_content(place);
    return found && sha256_hex(*found) == file.before->sha256 ? found : std::nullopt;
  }

 private:
  const DiffWritten& record_;
  const fs::path& repository_;
  std::optional<CommitFiles> commit_;
};

}  // namespace

DiffCheck check_recorded_diff(const fs::path& folder, const fs::path& repository) {
  DiffCheck check;
  const RecordedDiff found = read_recorded_diff(folder / kTranscriptName);
  if (found.name.empty()) return check;
  const std::string text = read_file(folder / found.name, kMostOfFile);
  if (!found.record && found.name == "changes.diff" && !text.empty()) {
    check.problem = found.name + ": the transcript has no record of this diff";
    return check;
  }
  if (!found.record) {
    check.notes.push_back(found.name +
                          ": the transcript does not record its base, so the diff is "
                          "compared by its digest alone");
    return check;
  }
  const DiffWritten& record = *found.record;
  const std::vector<DiffFile> files = files_of(record);
  const Base base(record, repository);
  const DiffProof proof = prove_diff(text, files, record.prefix,
                                     [&](const DiffFile& file) { return base.content(file); });
  if (!proof.problem.empty()) {
    check.problem = found.name + ": " + proof.problem;
    return check;
  }
  check.notes.push_back(found.name + ": applied to the recorded base, " +
                        std::to_string(proof.proved) + " of " + std::to_string(files.size()) +
                        " files give the recorded end");
  if (proof.unproved.empty()) return check;
  check.notes.push_back(repository.empty()
                            ? "the others need commit " + record.base_commit +
                                  ": name a folder of a clone that has it (-C DIR)"
                            : "not had here, since too large for the record: the base of " +
                                  joined(proof.unproved, ", ",
                                         [](const std::string& path) { return path_text(path); }));
  return check;
}

}  // namespace sortie
