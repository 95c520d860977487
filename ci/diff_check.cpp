#include "ci/diff_check.h"

#include <optional>

#include "ci/recorded_diff.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/git/commit_files.h"
#include "core/git/git_repository.h"
#include "core/record/diff_names.h"
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
  /// @param repository  a folder in it; "": only the record is used
  /// @param optional    without the commit, too, only the record is used
  Base(const DiffWritten& record, fs::path repository, bool optional)
      : record_(record), repository_(std::move(repository)) {
    if (repository_.empty() || record.base_commit.empty()) return;
    commit_.emplace(repository_, record.base_commit);
    if (commit_->problem().empty()) return;
    if (!optional) throw Error(commit_->problem(), ExitCode::usage);
    commit_.reset();
    repository_.clear();
  }

  bool has_repository() const { return !repository_.empty(); }

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
  fs::path repository_;
  std::optional<CommitFiles> commit_;
};

/// Where a submodule is in the clone that the repository's folder lies in; "" if it is not checked
/// out there.
fs::path submodule_in(const fs::path& repository, const std::string& prefix,
                      const std::string& submodule) {
  if (repository.empty()) return {};
  std::error_code error;
  const FoundRepository found = find_repository(fs::canonical(repository, error));
  const fs::path top = found.handle ? found.toplevel / prefix : fs::canonical(repository, error);
  const fs::path place = (top / submodule).lexically_normal();
  const bool there = fs::canonical(place, error) == place && !error &&
                     fs::exists(fs::symlink_status(place / ".git", error));
  return there ? place : fs::path();
}

/// What is wrong with a diff that has no record, or "".
void judge_without_record(const std::string& name, const std::string& text, DiffCheck& check) {
  if (!name.starts_with("partial") && !text.empty())
    check.problem = name + ": the transcript has no record of this diff";
  else
    check.notes.push_back(name +
                          ": the transcript does not record its base, so the diff is "
                          "compared by its digest alone");
}

/// Proves one diff on its base.
void check_one(const DiffWritten& record, const std::string& text, const Base& base,
               DiffCheck& check) {
  const std::vector<DiffFile> files = files_of(record);
  const DiffProof proof = prove_diff(text, files, record.prefix,
                                     [&](const DiffFile& file) { return base.content(file); });
  if (!proof.problem.empty()) {
    check.problem = record.name + ": " + proof.problem;
    return;
  }
  check.notes.push_back(record.name + ": applied to the recorded base, " +
                        std::to_string(proof.proved) + " of " + std::to_string(files.size()) +
                        " files give the recorded end");
  if (proof.unproved.empty()) return;
  const std::string where = record.submodule.empty() ? "" : ", with the submodule checked out";
  check.notes.push_back(!base.has_repository()
                            ? "the others need commit " + record.base_commit +
                                  ": name a folder of a clone that has it" + where + " (-C DIR)"
                            : "not had here, since too large for the record: the base of " +
                                  joined(proof.unproved, ", ",
                                         [](const std::string& path) { return path_text(path); }));
}

}  // namespace

DiffCheck check_recorded_diff(const fs::path& folder, const fs::path& repository) {
  DiffCheck check;
  std::string prefix;  // of the workspace in its repository
  for (const RecordedDiff& found : read_recorded_diffs(folder / kTranscriptName)) {
    const std::string text = read_file(folder / found.name, kMostOfFile);
    const std::string submodule = submodule_of_diff(found.name);
    if (!found.record) {
      judge_without_record(found.name, text, check);
    } else if (found.record->submodule != submodule) {
      check.problem = found.name + ": its record is of another submodule";
    } else {
      if (submodule.empty()) prefix = found.record->prefix;
      const fs::path place =
          submodule.empty() ? repository : submodule_in(repository, prefix, submodule);
      check_one(*found.record, text, Base(*found.record, place, !submodule.empty()), check);
    }
    if (!check.problem.empty()) return check;
  }
  return check;
}

}  // namespace sortie
