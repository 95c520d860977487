#include "core/workspace/diff/applied_diff.h"

#include <fcntl.h>
#include <git2.h>
#include <sys/stat.h>

#include "core/base/error.h"
#include "core/files/files.h"
#include "core/git/git_repository.h"
#include "core/workspace/tree.h"

namespace sortie {
namespace {

bool is_as(const DiskFiles& files, const git_diff_delta& delta) try {
  if (delta.status == GIT_DELTA_DELETED) return !files.status(delta.old_file.path).has_value();
  const std::string path = delta.new_file.path;
  const auto status = files.status(path);
  if (!status) return false;
  const bool link = status->kind == FileStatus::Kind::symlink;
  if (!link && status->kind != FileStatus::Kind::file) return false;
  if (link != (delta.new_file.mode == GIT_FILEMODE_LINK)) return false;
  const auto content = link ? std::optional(files.read_link(path)) : files.read(path);
  if (!content) return false;
  const git_oid id = blob_id(*content);
  return git_oid_equal(&id, &delta.new_file.id) != 0;
} catch (const std::exception&) {
  return false;  // it can't be read, so nothing is known of it
}

}  // namespace

AppliedDiff look_for_diff(const std::filesystem::path& top, std::string_view text) {
  AppliedDiff found{.all = true};
  if (text.empty()) return found;
  start_libgit2();
  GitDiff diff;
  if (git_diff_from_buffer(GitOut(diff), text.data(), text.size()) < 0) return {};
  const DiskFiles files(open_folder(AT_FDCWD, top.native(), top));
  for (std::size_t i = 0; i < git_diff_num_deltas(diff.get()); ++i) {
    const git_diff_delta* const delta = git_diff_get_delta(diff.get(), i);
    for (const char* path : {delta->old_file.path, delta->new_file.path})
      if (path != nullptr) found.paths.insert(path);
    found.all = found.all && is_as(files, *delta);
  }
  return found;
}

}  // namespace sortie
