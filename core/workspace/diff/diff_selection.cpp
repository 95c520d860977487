#include "core/workspace/diff/diff_selection.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/file_name.h"
#include "core/files/path_below.h"
#include "core/workspace/tree.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

using PathKind = ChangedPath::Kind;
using Own = ChangedPath::Own;

/// Larger files are not even read for a digest.
constexpr std::uint64_t kMostRead = 2ull << 30;

/// @throws ToolError  if it can't be read
std::optional<TreeEntry> read_entry(const Files& files, const std::string& path) {
  const auto status = files.status(path);
  if (!status) return std::nullopt;
  if (status->kind == FileStatus::Kind::symlink) return TreeEntry{0120000, files.read_link(path)};
  if (status->kind != FileStatus::Kind::file) return std::nullopt;
  auto content = files.read(path, kMostRead);
  if (!content) return std::nullopt;
  return TreeEntry{(status->mode & 0100) != 0 ? 0100755u : 0100644u, std::move(*content)};
}

Change read_change(const ChangedPath& changed, const Files& start, const Files& view) {
  Change change{changed.path, std::nullopt, std::nullopt};
  // Not looked up if the kind says that it does not exist: a link above could lead to a file all
  // the same.
  if (changed.kind != PathKind::added) change.before = read_entry(start, changed.path);
  if (changed.kind != PathKind::deleted) change.after = read_entry(view, changed.path);
  return change;
}

/// "PATH sha256:… BYTES" for a file too large for a diff, else "".
std::string too_large(const Change& change, std::uint64_t max_bytes) {
  const auto exceeds = [&](const auto& side) { return side && side->content.size() > max_bytes; };
  if (!exceeds(change.before) && !exceeds(change.after)) return "";
  if (!change.after) return change.path + " deleted";
  return change.path + " sha256:" + sha256_hex(change.after->content) + " " +
         std::to_string(change.after->content.size());
}

/// Whether a side is too large for a diff, decided without reading it.
bool is_too_large(const ChangedPath& changed, const Files& start, const Files& view,
                  std::uint64_t max_bytes) {
  const auto exceeds = [&](const Files& files) {
    const auto status = files.status(changed.path);
    return status && status->kind == FileStatus::Kind::file && status->size > max_bytes;
  };
  return (changed.kind != PathKind::added && exceeds(start)) ||
         (changed.kind != PathKind::deleted && exceeds(view));
}

/// The prefix of a path up to its first `.git`.
std::string git_folder_of(const std::string& path) {
  fs::path folder;
  for (const fs::path& part : fs::path(path)) {
    folder /= part;
    if (in_git_folder(part.native())) break;
  }
  return folder.native();
}

/// Whether a link's target is, lexically, outside of its tree. Absolute targets always are: they
/// differ on other machines.
bool leaves_tree(const std::string& path, const std::string& target, const std::string& prefix) {
  if (fs::path(target).is_absolute()) return true;
  const fs::path place = (fs::path(prefix) / path).parent_path();
  const fs::path meant = (place / target).lexically_normal();
  return !meant.empty() && *meant.begin() == "..";
}

/// Goes through all changes of a run, path by path.
class Selector {
 public:
  Selector(const Workspace& workspace, const Files& view, const StartState& start,
           const DiffOptions& options, Diff& diff)
      : workspace_(workspace),
        view_(view),
        start_(start),
        options_(options),
        diff_(diff),
        included_(options.include, "output.diff.include") {
    check_git(git_index_new(GitOut(names_)), "diff");
  }

  std::vector<Change> run() {
    for (const ChangedPath& changed : workspace_.changed_paths(view_, options_.check_cancel)) {
      if (!is_below(changed.path, options_.only)) continue;
      if (options_.check_cancel) options_.check_cancel();
      one(changed);
    }
    return std::move(changes_);
  }

 private:
  void one(const ChangedPath& changed) {
    if (in_git_folder(changed.path)) return git_folder(changed.path);
    if (is_left_to_ignore_rules(changed, start_, included_)) {
      diff_.ignored_changes.push_back(changed.path);
      return;
    }
    const Meanwhile meanwhile = judge(changed);
    if (meanwhile == Meanwhile::conflict) diff_.conflicts.push_back(changed.path);
    if (meanwhile == Meanwhile::alike) diff_.already.push_back(changed.path);
    if (changed.kind == PathKind::removed_folder || meanwhile == Meanwhile::unchanged) return;
    if (changed.kind == PathKind::unreadable)
      return leave_out(changed.path, LeftOut::Why::unreadable, "a folder that can't be listed");
    if (changed.kind == PathKind::unreadable_file)
      return leave_out(changed.path, LeftOut::Why::unreadable, "a file without read permission");
    if (const auto module = start_.submodule(changed.path); !module.empty())
      return leave_out(changed.path, LeftOut::Why::submodule, "in the submodule " + module);
    if (start_.lfs(changed.path))
      return leave_out(changed.path, LeftOut::Why::lfs, "filter=lfs applies to it");
    if (const auto flaw = flaw_of_name(changed.path); !flaw.empty())
      return leave_out(changed.path, LeftOut::Why::bad_name, flaw);
    if (options_.draft &&
        is_too_large(changed, workspace_.start(), view_, options_.max_file_size)) {
      diff_.too_large.push_back(changed.path);
      return;
    }
    try {
      Change change = read_change(changed, workspace_.start(), view_);
      change.no_start = meanwhile == Meanwhile::conflict || meanwhile == Meanwhile::alike;
      if (meanwhile == Meanwhile::alike) {
        // Without a version in git the original is unknown, but the file is new since then.
        if (changed.kind == PathKind::modified && !start_.head_has_file(changed.path)) return;
        change.before.reset();
      }
      take(std::move(change));
    } catch (const ToolError& error) {
      leave_out(changed.path, LeftOut::Why::unreadable, error.what());
    }
  }

  void take(Change change) {
    if (std::string line = too_large(change, options_.max_file_size); !line.empty()) {
      diff_.too_large.push_back(std::move(line));
      return;
    }
    std::uint64_t bytes = bytes_;
    for (const auto& side : {&change.before, &change.after})
      bytes += *side ? (*side)->content.size() : 0;
    if (bytes > options_.max_bytes) return too_much(change.path);
    bytes_ = bytes;
    const auto& made = change.after;
    if (made && made->mode == 0120000 && change.before != made &&
        leaves_tree(change.path, made->content, start_.prefix()))
      diff_.outward_links.push_back(path_text(change.path) + " -> " + path_text(made->content));
    changes_.push_back(std::move(change));
  }

  void too_much(const std::string& path) {
    const std::string limit = std::to_string(options_.max_bytes >> 20) + " MiB";
    if (options_.draft)
      throw Error("the changes are too large for a diff: more than " + limit + ", reached at " +
                      path_text(path),
                  ExitCode::task_failed);
    leave_out(path, LeftOut::Why::too_much, "all changes together exceed " + limit);
  }

  /// How the user changed a path that the run changed.
  enum class Meanwhile {
    as_it_was,  ///< not at all, or with the same content
    conflict,
    alike,      ///< in the same way as the run
    unchanged,  ///< neither the user nor the run changed the content
  };

  Meanwhile judge(const ChangedPath& changed) const {
    const bool perhaps = changed.own == Own::changed ||
                         (changed.own == Own::perhaps_gone && start_.tracked(changed.path));
    if (!perhaps) return Meanwhile::as_it_was;
    const bool is_file = changed.kind == PathKind::added || changed.kind == PathKind::modified ||
                         changed.kind == PathKind::deleted;
    if (!is_file) return Meanwhile::conflict;
    try {
      const auto now = read_entry(workspace_.start(), changed.path);
      const auto made =
          changed.kind == PathKind::deleted ? std::nullopt : read_entry(view_, changed.path);
      const bool untouched = now && start_.is_as_indexed(changed.path, *now);
      if (now == made) {
        if (untouched) return Meanwhile::unchanged;
        // For a folder that both removed, the files would have to be listed.
        return !now && start_.head_has_folder(changed.path) ? Meanwhile::conflict
                                                            : Meanwhile::alike;
      }
      return untouched ? Meanwhile::as_it_was : Meanwhile::conflict;
    } catch (const ToolError&) {
      return Meanwhile::conflict;
    }
  }

  /// Reports a `.git` once for everything in it. One that existed at the start belongs to the
  /// repository or a submodule.
  void git_folder(const std::string& path) {
    const std::string folder = git_folder_of(path);
    if (workspace_.start().status(folder)) return;
    if (!diff_.left_out.empty() && diff_.left_out.back().path == folder) return;
    leave_out(folder, LeftOut::Why::git_folder, "git does not store .git folders");
  }

  /// Why git rejects a path (".git" in disguise: "git~1"), or "".
  std::string flaw_of_name(const std::string& path) {
    git_index_entry entry{};
    entry.path = path.c_str();
    entry.mode = 0100644;
    if (git_index_add(names_.get(), &entry) >= 0) {
      git_index_clear(names_.get());
      return "";
    }
    return "git rejects the name";
  }

  void leave_out(const std::string& path, LeftOut::Why why, std::string detail) {
    diff_.left_out.push_back({path, why, std::move(detail)});
  }

  const Workspace& workspace_;
  const Files& view_;
  const StartState& start_;
  const DiffOptions& options_;
  Diff& diff_;
  const PathPatterns included_;
  GitIndex names_;  ///< an empty index without a repository, to validate names
  std::vector<Change> changes_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

PathPatterns::PathPatterns(const std::vector<std::string>& patterns, const std::string& what) {
  if (patterns.empty()) return;
  start_libgit2();
  std::vector<char*> texts;
  for (const auto& pattern : patterns) texts.push_back(const_cast<char*>(pattern.c_str()));
  const git_strarray list{texts.data(), texts.size()};
  check_git(git_pathspec_new(GitOut(patterns_), &list), what, ExitCode::usage);
}

bool PathPatterns::match(const std::string& path) const {
  return patterns_ &&
         git_pathspec_matches_path(patterns_.get(), GIT_PATHSPEC_USE_CASE, path.c_str());
}

bool is_left_to_ignore_rules(const ChangedPath& changed, const StartState& start,
                             const PathPatterns& included) {
  if (included.match(changed.path)) return false;
  const bool folder =
      changed.kind == PathKind::unreadable || changed.kind == PathKind::removed_folder;
  if (folder) return start.ignored(changed.path + "/");
  return !start.tracked(changed.path) && start.ignored(changed.path);
}

std::vector<Change> select_changes(const Workspace& workspace, const Files& view,
                                   const StartState& start, const DiffOptions& options,
                                   Diff& diff) {
  return Selector(workspace, view, start, options, diff).run();
}

}  // namespace sortie
