#include "core/workspace/diff/diff_selection.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/file_name.h"
#include "core/files/path_below.h"
#include "core/git/submodules.h"
#include "core/workspace/diff/diff_scope.h"
#include "core/workspace/diff/link_loops.h"
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

/// "sha256:… BYTES" for a file too large for a diff, "deleted" if it is gone; else "".
std::string too_large(const Change& change, std::uint64_t max_bytes) {
  const auto exceeds = [&](const auto& side) { return side && side->content.size() > max_bytes; };
  if (!exceeds(change.before) && !exceeds(change.after)) return "";
  if (!change.after) return "deleted";
  return "sha256:" + sha256_hex(change.after->content) + " " +
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

/// A path as an entry of a list in YAML.
std::string yaml_name(const std::string& path) {
  const bool plain = std::all_of(path.begin(), path.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '/' || c == '_' || c == '-' || c == '.';
  });
  return plain ? path : '"' + path + '"';
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
        changed_(workspace.changed_paths(view, options.check_cancel)),
        scope_(workspace, view, start, options, changed_) {
    check_git(git_index_new(GitOut(names_)), "diff");
  }

  std::vector<Change> run() {
    for (const ChangedPath& changed : changed_) {
      if (!is_below(changed.path, options_.only)) continue;
      if (options_.check_cancel) options_.check_cancel();
      one(changed);
    }
    for (const auto& [folder, files] : files_of_products_)
      diff_.left_out[files.first].detail +=
          ": " + std::to_string(files.second) + (files.second == 1 ? " new file" : " new files");
    return std::move(changes_);
  }

 private:
  /// Whether the path is outside of what diffs are about.
  bool is_outside(const ChangedPath& changed) {
    using Kind = DiffScope::Place::Kind;
    DiffScope::Place place = scope_.place_of(changed);
    switch (place.kind) {
      case Kind::inside:
        return false;
      case Kind::ignored:
        diff_.ignored_changes.push_back(changed.path);
        if (place.by_run && options_.patched.contains(changed.path))
          diff_.patched_but_ignored.push_back(changed.path);
        return true;
      case Kind::product:
        product(std::move(place));
        return true;
    }
    return false;
  }

  /// Reports a folder once for all files in it.
  void product(DiffScope::Place place) {
    const bool is_folder = place.product.back() == '/';
    const auto found = files_of_products_.find(place.product);
    if (found != files_of_products_.end()) {
      ++found->second.second;
      return;
    }
    if (is_folder)
      files_of_products_.emplace(place.product, std::pair(diff_.left_out.size(), std::size_t{1}));
    leave_out(place.product, LeftOut::Why::product, std::move(place.meaning));
  }

  void one(const ChangedPath& changed) {
    if (in_git_folder(changed.path)) return git_folder(changed.path);
    if (is_outside(changed)) return;
    const Meanwhile meanwhile = judge(changed);
    if (meanwhile == Meanwhile::conflict) diff_.conflicts.push_back(changed.path);
    if (meanwhile == Meanwhile::alike) diff_.already.push_back(changed.path);
    if (changed.kind == PathKind::removed_folder || meanwhile == Meanwhile::unchanged) return;
    if (changed.kind == PathKind::unreadable)
      return leave_out(changed.path, LeftOut::Why::unreadable, "a folder that can't be listed");
    if (changed.kind == PathKind::unreadable_file)
      return leave_out(changed.path, LeftOut::Why::unreadable, "a file without read permission");
    if (const auto module = start_.submodule(changed.path); !module.empty())
      return leave_out(changed.path, LeftOut::Why::submodule, words_for(module, changed));
    if (start_.lfs(changed.path)) {
      if (!options_.lfs)
        return leave_out(changed.path, LeftOut::Why::lfs, "filter=lfs applies to it");
      diff_.lfs.push_back(changed.path);
    }
    if (const auto flaw = flaw_of_name(changed.path); !flaw.empty())
      return leave_out(changed.path, LeftOut::Why::bad_name, flaw);
    if (const auto link = changed.kind == PathKind::added
                              ? link_loop_above(workspace_.start(), changed.path)
                              : "";
        !link.empty())
      return leave_out(
          changed.path, LeftOut::Why::link_loop,
          "below " + path_text(link) +
              ", a link that led to itself: git apply can't put a folder in its place");
    if (options_.draft &&
        is_too_large(changed, workspace_.start(), view_, options_.max_file_size)) {
      diff_.too_large.push_back({changed.path});
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

  std::string words_for(const std::string& module, const ChangedPath& changed) {
    if (changed.path == module) return "it is a submodule of the repository";
    const std::string is = changed.kind == PathKind::deleted ? "removed from" : "in";
    const std::string inner = innermost(module, changed.path);
    const std::string name = options_.within + inner;
    if (!workspace_.start().status(inner + "/.git"))
      return is + " the submodule " + path_text(name) + ", which is not checked out";
    return is + " the submodule " + path_text(name) + "; `output: {diff: {submodules: [" +
           yaml_name(name) +
           "]}}` in the task gives it a diff of its own, and so does a run with -C there";
  }

  /// The innermost submodule that the path is in, if those within a submodule are known.
  /// @param module  the outermost
  std::string innermost(const std::string& module, const std::string& path) {
    if (!modules_) {
      modules_.emplace();
      try {
        modules_ = find_submodules(start_.root());
      } catch (const Error&) {  // the outermost will do
      }
    }
    std::string found = module;
    for (const Submodule& one : *modules_)
      if (path.starts_with(one.path + "/") && one.path.size() > found.size()) found = one.path;
    return found;
  }

  void take(Change change) {
    if (std::string detail = too_large(change, options_.max_file_size); !detail.empty()) {
      diff_.too_large.push_back({change.path, std::move(detail)});
      return;
    }
    std::uint64_t bytes = bytes_;
    for (const auto& side : {&change.before, &change.after})
      bytes += *side ? (*side)->content.size() : 0;
    if (bytes > options_.max_bytes) return too_much(change.path);
    bytes_ = diff_.bytes = bytes;
    const auto& made = change.after;
    if (made && made->mode == 0120000 && change.before != made &&
        leaves_tree(change.path, made->content, start_.prefix()))
      diff_.outward_links.push_back(path_text(change.path) + " -> " + path_text(made->content));
    if (made && !change.before && holds_place(made->content))
      diff_.bound_to_place.push_back(change.path);
    changes_.push_back(std::move(change));
  }

  /// Whether the workspace's absolute path is in the text, as a whole: not "/work" in "/workshop" or
  /// "x/work".
  bool holds_place(const std::string& text) const {
    const auto is_part = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
    };
    const std::string& place = options_.place;
    if (place.size() < 2) return false;
    for (auto at = text.find(place); at != text.npos; at = text.find(place, at + 1)) {
      const auto end = at + place.size();
      const bool begins = at == 0 || !is_part(text[at - 1]);
      if (begins && (end == text.size() || text[end] == '/' || !is_part(text[end]))) return true;
    }
    return false;
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
    if (has_path(workspace_.start(), folder)) return;
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
  const std::vector<ChangedPath> changed_;
  DiffScope scope_;
  /// By folder: its place in `left_out`, and how many files it has.
  std::map<std::string, std::pair<std::size_t, std::size_t>> files_of_products_;
  GitIndex names_;  ///< an empty index without a repository, to validate names
  std::vector<Change> changes_;
  std::optional<std::vector<Submodule>> modules_;  ///< looked for when one has changes
  std::uint64_t bytes_ = 0;
};

}  // namespace

std::vector<Change> select_changes(const Workspace& workspace, const Files& view,
                                   const StartState& start, const DiffOptions& options,
                                   Diff& diff) {
  return Selector(workspace, view, start, options, diff).run();
}

}  // namespace sortie
