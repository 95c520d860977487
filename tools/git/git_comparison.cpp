#include "tools/git/git_comparison.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/text/text.h"

namespace sortie {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kLargestCompared = 64ull << 20;
constexpr unsigned kLink = 0120000;
constexpr unsigned kSubmodule = 0160000;
constexpr std::size_t kLongestPath = 4096;

/// git's words for a conflict, by the sides that exist (1 base, 2 ours, 4 theirs).
const char* name_of_conflict(unsigned sides) {
  switch (sides) {
    case 1:
      return "both deleted";
    case 2:
      return "added by us";
    case 3:
      return "deleted by them";
    case 4:
      return "added by them";
    case 5:
      return "deleted by us";
    case 6:
      return "both added";
    default:
      return "both modified";
  }
}

}  // namespace

void PathList::add(const std::string& line) {
  if (++count <= most) text += line + "\n";
}

std::string PathList::section(const char* title) const {
  if (count == 0) return "";
  std::string whole = std::string(title) + " (" + std::to_string(count) + "):\n" + text;
  if (count > most) whole += "… and " + std::to_string(count - most) + " more\n";
  return whole;
}

GitComparison::GitComparison(const GitTreeState& state, const GitContent& content,
                             const DiskFiles& files, const HiddenPaths& hidden,
                             std::size_t most_paths)
    : state_(state),
      content_(content),
      files_(files),
      hidden_(hidden),
      unstaged_{most_paths},
      untracked_{most_paths} {}

void GitComparison::add(const WalkedFile& file) {
  skip_to(file.path);
  const auto& tracked = state_.tracked;
  if (next_ < tracked.size() && tracked[next_].path == file.path)
    compare(tracked[next_++], file);
  else
    add_untracked(std::string(file.path));
}

void GitComparison::finish() {
  for (; next_ < state_.tracked.size(); ++next_) check_deleted(state_.tracked[next_]);
}

/// The first file of the index at or after the path.
const TrackedFile* GitComparison::find(std::string_view path) const {
  const auto& tracked = state_.tracked;
  const auto at = std::lower_bound(
      tracked.begin(), tracked.end(), path,
      [](const TrackedFile& file, std::string_view wanted) { return file.path < wanted; });
  return at == tracked.end() ? nullptr : &*at;
}

bool GitComparison::is_tracked(std::string_view path, bool is_folder) const {
  const std::string wanted = std::string(path) + (is_folder ? "/" : "");
  const TrackedFile* const file = find(wanted);
  if (file == nullptr) return false;
  return is_folder ? file->path.starts_with(wanted) : file->path == wanted;
}

bool GitComparison::is_submodule(std::string_view path) const {
  const TrackedFile* const file = find(path);
  return file != nullptr && file->path == path && file->mode == kSubmodule;
}

bool GitComparison::is_hidden(const std::string& path) const {
  return hidden_ && hidden_(fs::path(path));
}

void GitComparison::skip_to(std::string_view path) {
  const auto& tracked = state_.tracked;
  for (; next_ < tracked.size() && tracked[next_].path < path; ++next_)
    check_deleted(tracked[next_]);
}

void GitComparison::add_unstaged(char kind, const std::string& path, const std::string& remark) {
  if (is_hidden(path)) return;
  unstaged_.add(std::string(1, kind) + " " + one_line(path, kLongestPath) +
                (remark.empty() ? "" : " (" + remark + ")"));
}

void GitComparison::check_deleted(const TrackedFile& file) {
  if (file.conflict != 0) return add_unstaged('U', file.path, name_of_conflict(file.conflict));
  if (file.not_looked_at || file.mode == kSubmodule) return;
  try {
    const auto status = files_.status(file.path);
    if (!status) return add_unstaged('D', file.path);
    // The walk does not report these: a folder in the file's place, which git shows as a deletion,
    // or a special file.
    if (status->kind == FileStatus::Kind::folder) add_unstaged('D', file.path);
    if (status->kind == FileStatus::Kind::other) add_unstaged('T', file.path);
  } catch (const ToolError&) {  // below an unreadable folder: unknown
  }
}

void GitComparison::compare(const TrackedFile& file, const WalkedFile& found) {
  if (file.conflict != 0) return add_unstaged('U', file.path, name_of_conflict(file.conflict));
  if (file.not_looked_at) return;
  if (file.to_be_added) return add_unstaged('A', file.path);
  struct stat status {};
  if (::fstatat(found.folder, found.name, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
  const bool was_link = file.mode == kLink;
  const bool is_link = S_ISLNK(status.st_mode);
  // Without core.symlinks git checks links out as files that contain the target.
  if (was_link != is_link && (is_link || state_.links_count)) return add_unstaged('T', file.path);
  const bool executable = (status.st_mode & 0100) != 0;
  if (!was_link && state_.modes_count && executable != (file.mode == 0100755))
    return add_unstaged('M', file.path);
  const bool same_times =
      status.st_mtim.tv_sec == file.modified_s && status.st_mtim.tv_nsec == file.modified_ns &&
      status.st_ctim.tv_sec == file.changed_s && status.st_ctim.tv_nsec == file.changed_ns;
  if (same_times && file.settled && static_cast<std::uint32_t>(status.st_size) == file.size) return;
  compare_content(file, found, static_cast<std::uint64_t>(status.st_size), is_link);
}

void GitComparison::compare_content(const TrackedFile& file, const WalkedFile& found,
                                    std::uint64_t size, bool is_link) {
  const fs::path path(found.path);
  try {
    if (is_link) {
      if (!content_.is_blob(file, files_.read_link(path))) add_unstaged('M', file.path);
      return;
    }
    if (size > kLargestCompared) {
      const auto lfs = content_.lfs_size(file);
      const bool differs = lfs && *lfs != size;
      return add_unstaged('M', file.path,
                          differs ? "" : "its timestamps changed; too large to compare");
    }
    const auto content = files_.read(path, kLargestCompared);
    switch (content_.compare(file, content.value_or(""))) {
      case GitContent::Verdict::same:
        return;
      case GitContent::Verdict::changed:
        return add_unstaged('M', file.path);
      case GitContent::Verdict::filtered:
        return add_unstaged('M', file.path,
                            "or unchanged: " + one_line(content_.conversion(file.path), 60) +
                                " is not applied here");
    }
  } catch (const ToolError&) {
    add_unstaged('M', file.path, "unreadable");
  }
}

/// Lists the topmost folder without tracked files instead of each file in it, as git does.
void GitComparison::add_untracked(std::string path) {
  if (!folder_.empty() && path.starts_with(folder_)) return;
  if (is_hidden(path)) return;
  for (std::size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1))
    if (!is_tracked(std::string_view(path).substr(0, slash), true)) {
      path.resize(slash + 1);
      folder_ = path;
      break;
    }
  untracked_.add(one_line(path, kLongestPath));
}

}  // namespace sortie
