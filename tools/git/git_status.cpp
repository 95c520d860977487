#include "tools/git/git_status.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/files/files.h"
#include "core/files/open_beneath.h"
#include "core/git/git_content.h"
#include "core/git/git_tree.h"
#include "core/text/git_quote.h"
#include "core/text/text.h"
#include "tools/git/time_limit.h"
#include "tools/search/ordered_work.h"
#include "tools/search/tree_walk.h"
#include "tools/workspace_path.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// A list of paths that keeps the first few and counts the rest.
struct PathList {
  std::size_t most;
  std::size_t count = 0;
  std::string text{};
  void add(const std::string& line);
  /// "TITLE (3):\n…"; "" if empty.
  std::string section(const char* title) const;
};

/// Compares a working tree with its index. Files must be added in byte order of their paths.
class GitComparison {
 public:
  /// @param content  for the same repository
  GitComparison(const GitTreeState& state, const GitContent& content, const DiskFiles& files,
                const HiddenPaths& hidden, std::size_t most_paths);

  /// What the file system says of a file that the index lists; nothing for others, and for one that
  /// is gone.
  using Attributes = std::optional<struct stat>;
  /// Reads them, for one thread: files come in byte order of their paths.
  std::function<Attributes(const WalkedFile&)> look() const;
  void add(const WalkedFile& file, const Attributes& attributes);
  /// Call after the last file: the remaining files of the index were deleted.
  void finish();
  /// Whether the index lists the path or, for a folder, something below it.
  bool is_tracked(std::string_view path, bool is_folder) const;
  /// Whether the path is a submodule, whose content belongs to another repository.
  bool is_submodule(std::string_view path) const;

  const PathList& unstaged() const noexcept { return unstaged_; }
  const PathList& untracked() const noexcept { return untracked_; }

 private:
  const TrackedFile* find(std::string_view path) const;
  bool is_hidden(const std::string& path) const;
  void skip_to(std::string_view path);
  void add_unstaged(char kind, const std::string& path, const std::string& remark = {});
  void check_deleted(const TrackedFile& file);
  void compare(const TrackedFile& file, const WalkedFile& found, const Attributes& attributes);
  void compare_content(const TrackedFile& file, const WalkedFile& found, std::uint64_t size,
                       bool is_link);
  void add_untracked(std::string path);

  const GitTreeState& state_;
  const GitContent& content_;
  const DiskFiles& files_;
  const HiddenPaths& hidden_;
  std::size_t next_ = 0;  ///< index into state_.tracked
  std::string folder_;    ///< the untracked folder listed last, with a slash at its end
  PathList unstaged_;
  PathList untracked_;
};

constexpr std::uint64_t kLargestCompared = 64ull << 20;
constexpr unsigned kLink = 0120000;
constexpr unsigned kSubmodule = 0160000;

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

std::function<GitComparison::Attributes(const WalkedFile&)> GitComparison::look() const {
  return [this, next = std::size_t{0}](const WalkedFile& file) mutable -> Attributes {
    const auto& tracked = state_.tracked;
    if (next >= tracked.size() || tracked[next].path != file.path) {
      const TrackedFile* const found = find(file.path);
      next = found == nullptr ? tracked.size() : static_cast<std::size_t>(found - tracked.data());
      if (found == nullptr || found->path != file.path) return std::nullopt;
    }
    ++next;
    struct stat status {};
    const int result = ::fstatat(file.folder->get(), file.name, &status, AT_SYMLINK_NOFOLLOW);
    return result == 0 ? Attributes(status) : std::nullopt;
  };
}

void GitComparison::add(const WalkedFile& file, const Attributes& attributes) {
  skip_to(file.path);
  const auto& tracked = state_.tracked;
  if (next_ < tracked.size() && tracked[next_].path == file.path)
    compare(tracked[next_++], file, attributes);
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
  unstaged_.add(std::string(1, kind) + " " + git_quoted_for_reading(path) +
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

void GitComparison::compare(const TrackedFile& file, const WalkedFile& found,
                            const Attributes& attributes) {
  if (file.conflict != 0) return add_unstaged('U', file.path, name_of_conflict(file.conflict));
  if (file.not_looked_at) return;
  if (file.to_be_added) return add_unstaged('A', file.path);
  if (!attributes) return;
  const struct stat& status = *attributes;
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
  untracked_.add(git_quoted_for_reading(path));
}

constexpr int kCommits = 5;

std::string upstream_text(const GitTreeState& state) {
  std::string text = "upstream " + one_line(state.upstream);
  if (state.upstream_is_gone) return text + ", which is gone";
  if (!state.ahead || !state.behind) return text;
  if (*state.ahead + *state.behind == 0) return text + ", up to date";
  if (*state.ahead > 0) text += ", " + std::to_string(*state.ahead) + " ahead";
  if (*state.behind > 0) text += ", " + std::to_string(*state.behind) + " behind";
  return text;
}

std::string first_lines(const GitTreeState& state) {
  std::string text = state.branch.empty() ? "HEAD is detached at " + state.head.substr(0, 10)
                                          : "branch: " + one_line(state.branch);
  if (!state.upstream.empty()) text += " (" + upstream_text(state) + ")";
  text += "\n";
  if (state.head.empty()) text += "no commit yet\n";
  if (!state.doing.empty()) text += "in the middle of a " + state.doing + "\n";
  return text;
}

/// A rename with one hidden side is shown as a deletion or an addition of the other side.
PathList staged_paths(const GitTreeState& state, const GitStatusOptions& options) {
  PathList list{options.max_paths};
  const auto is_hidden = [&](const std::string& path) {
    return options.hidden && options.hidden(fs::path(path));
  };
  for (const StagedChange& change : state.staged) {
    const bool hides_new = is_hidden(change.path);
    const bool hides_old = change.old_path.empty() || is_hidden(change.old_path);
    if (hides_new && hides_old) continue;
    if (hides_new)
      list.add("D " + git_quoted_for_reading(change.old_path));
    else if (change.kind == 'R' && hides_old)
      list.add("A " + git_quoted_for_reading(change.path));
    else
      list.add(std::string(1, change.kind) + " " +
               (change.kind == 'R' ? git_quoted_for_reading(change.old_path) + " -> " : "") +
               git_quoted_for_reading(change.path));
  }
  return list;
}

/// @param whole  whether the comparison was completed
std::string status_text(const GitTreeState& state, const PathList& staged,
                        const GitComparison& tree, bool whole) {
  std::string text = first_lines(state) + staged.section("staged") +
                     tree.unstaged().section("unstaged") + tree.untracked().section("untracked");
  if (staged.count + tree.unstaged().count + tree.untracked().count == 0 && whole)
    text += "no changes\n";
  if (!state.commits.empty()) text += "last commits:\n";
  for (const CommitLine& commit : state.commits)
    text += commit.id + " " + commit.date + " " + one_line(commit.author, 60) + ": " +
            one_line(commit.subject, 160) + "\n";
  return text;
}

}  // namespace

GitStatus::GitStatus(const DiskFiles& files, fs::path repository, const Clock& clock,
                     GitStatusOptions options)
    : files_(files),
      repository_(std::move(repository)),
      clock_(clock),
      options_(std::move(options)) {
  spec_.name = "git_status";
  spec_.description =
      "Shows the state of the git repository: branch, upstream and how many commits they differ "
      "by, staged, unstaged (M modified, A added, D deleted, R renamed, T type changed, U conflict) "
      "and untracked paths, and the last commits. Ignored files and submodules are left out.";
  spec_.parameters =
      parse_json(R"({"type": "object", "properties": {}, "additionalProperties": false})");
}

std::vector<Action> GitStatus::actions(const Json&) const { return {ReadPath{"."}}; }

ToolResult GitStatus::run(const Json&, std::stop_token stop) {
  GitTreeState state;
  std::optional<GitContent> content;
  std::vector<OuterIgnoreFile> outer;
  const auto deadline = clock_.steady() + options_.time_limit;
  try {
    state = read_git_tree(repository_, kCommits, cancel_after(options_.time_limit, clock_, stop));
    content.emplace(repository_);
    outer = outer_ignore_files(repository_);
  } catch (const Error& error) {
    throw ToolError("Can't read the repository: " + std::string(error.what()));
  }
  GitComparison tree(state, *content, files_, options_.hidden, options_.max_paths);
  bool ended = false;
  const auto may_go_on = [&] {
    ended = ended || stop.stop_requested() || clock_.steady() >= deadline;
    return !ended;
  };
  WalkOptions walk_options{
      .dot_names = true,
      .with_links = true,
      .keeps = [&](std::string_view path,
                   bool is_folder) { return tree.is_tracked(path, is_folder); },
      .goes_on = may_go_on};
  TreeWalk walk(
      outer_rules(outer), [&](const std::string& path) { return !tree.is_submodule(path); },
      std::move(walk_options));
  std::size_t seen = 0;
  Fd root = open_beneath(files_.root(), ".", O_RDONLY | O_DIRECTORY);
  if (!root) throw ToolError("Can't read the workspace");
  using Attributes = GitComparison::Attributes;
  OrderedWork<Attributes> files([&] { return tree.look(); },
                                [&](const WalkedFile& file, const Attributes& attributes) {
                                  if (seen++ % 16 == 0 && !may_go_on()) return false;
                                  tree.add(file, attributes);
                                  return true;
                                });
  walk.run(std::move(root), "", [&](const WalkedFile& file) { return files.add(file); });
  if (!files.finish()) ended = true;
  if (!ended) tree.finish();

  ToolResult result;
  result.text = status_text(state, staged_paths(state, options_), tree, !ended);
  if (ended) result.note = "the comparison stopped early: there may be more changes";
  return result;
}

}  // namespace sortie
