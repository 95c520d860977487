#include "app/run/recorded_changes.h"

#include <fcntl.h>

#include <system_error>

#include "ci/recorded_diff.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/files.h"
#include "core/git/git_repository.h"
#include "core/git/stored_bytes.h"
#include "core/record/diff_names.h"
#include "core/record/transcript.h"
#include "core/workspace/tree.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostOfDiff = 1u << 30;

/// What the tree has there, or what git stores for it, whichever the digest is of. A mere renaming
/// does not say in its text what is renamed. @return  its blob id; that of nothing if it is neither
std::string id_of_moved(const FoundRepository& repository, const fs::path& top,
                        const std::string& path, const std::string& sha256) {
  static const std::string kNothing(40, '0');
  std::error_code error;
  const auto status = fs::symlink_status(top / path, error);
  if (fs::is_symlink(status)) {
    const std::string target = fs::read_symlink(top / path, error).string();
    return sha256_hex(target) == sha256 ? id_text(blob_id(target)) : kNothing;
  }
  if (!fs::is_regular_file(status)) return kNothing;
  std::string content = read_file(top / path, kMostOfDiff);
  if (repository.handle && sha256_hex(content) != sha256)
    content = WorkTreeBytes(*repository.handle, repository.toplevel).to_git(path, content);
  return sha256_hex(content) == sha256 ? id_text(blob_id(content)) : kNothing;
}

}  // namespace

std::vector<RecordedChanges> read_recorded_changes(const fs::path& folder,
                                                   const fs::path& workspace) {
  std::vector<RecordedChanges> all;
  for (const RecordedDiff& found : read_recorded_diffs(folder / kTranscriptName)) {
    RecordedChanges changes{.submodule = submodule_of_diff(found.name),
                            .text = read_file(folder / found.name, kMostOfDiff)};
    const auto& written = found.record;
    if (!written || written->sha256 != sha256_hex(changes.text) ||
        written->submodule != changes.submodule)
      throw Error("the transcript has no record of " + found.name, ExitCode::integrity);
    const fs::path place = place_of(changes.submodule, workspace);
    const FoundRepository repository = find_repository(place);
    const fs::path top = repository.handle ? repository.toplevel : place;
    for (const DiffedFile& file : written->files)
      if (!file.old_path.empty() && file.before)
        changes.moved_ids[file.old_path] =
            id_of_moved(repository, top, file.old_path, file.before->sha256);
    all.push_back(std::move(changes));
  }
  if (all.empty() || !all.front().submodule.empty())
    throw Error("the transcript has no record of changes.diff", ExitCode::integrity);
  return all;
}

bool is_in_tree(const fs::path& workspace, const DiffWritten& diff) {
  const FoundRepository repository = find_repository(workspace);
  const fs::path top = repository.handle ? repository.toplevel : workspace;
  const DiskFiles tree(open_folder(AT_FDCWD, top.native(), top));
  if (!repository.handle) return is_applied(diff, tree, {});
  const WorkTreeBytes bytes(*repository.handle, repository.toplevel);
  return is_applied(diff, tree, [&](const std::string& path, const std::string& content) {
    return bytes.to_git(path, content);
  });
}

}  // namespace sortie
