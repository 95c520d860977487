#include "core/workspace/diff.h"

#include <strings.h>

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/file_name.h"
#include "core/base/hash.h"
#include "core/workspace/patch_text.h"
#include "core/workspace/start_state.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

/// More than this is not even read for its digest.
constexpr std::uint64_t kMostRead = 2ull << 30;
/// Pairs of files in which a draft looks for renames.
constexpr std::size_t kMostPairs = 100'000;

/// A changed path with both of its sides; a side that git would not keep is none.
struct Change {
  std::string path;
  std::optional<TreeEntry> before;
  std::optional<TreeEntry> after;
};

/// `.git` anywhere in a path: a repository's own files, never part of a tree (git: verify_path).
bool in_git_folder(const std::string& path) {
  const fs::path parts = path;
  return std::any_of(parts.begin(), parts.end(),
                     [](const fs::path& part) { return ::strcasecmp(part.c_str(), ".git") == 0; });
}

std::optional<TreeEntry> read_entry(const Files& files, const std::string& path) {
  try {
    const auto status = files.status(path);
    if (!status) return std::nullopt;
    if (status->kind == FileStatus::Kind::symlink) {
      return TreeEntry{0120000, files.read_link(path)};
    }
    if (status->kind != FileStatus::Kind::file) return std::nullopt;
    auto content = files.read(path, kMostRead);
    if (!content) return std::nullopt;
    return TreeEntry{(status->mode & 0100) != 0 ? 0100755u : 0100644u, std::move(*content)};
  } catch (const ToolError& error) {
    throw Error(std::string("diff: ") + error.what(), ExitCode::task_failed);
  }
}

Change read_change(const ChangedPath& changed, const Files& start, const Files& view) {
  Change change{changed.path, std::nullopt, std::nullopt};
  // Not looked up where the kind says that it isn't there: a link in its place above could
  // lead to a file all the same.
  if (changed.kind != ChangedPath::Kind::added) change.before = read_entry(start, changed.path);
  if (changed.kind != ChangedPath::Kind::deleted) change.after = read_entry(view, changed.path);
  return change;
}

/// Which ignored paths belong into the diff all the same.
class Included {
 public:
  explicit Included(const std::vector<std::string>& globs) {
    if (globs.empty()) return;
    start_libgit2();
    std::vector<char*> texts;
    for (const auto& glob : globs) texts.push_back(const_cast<char*>(glob.c_str()));
    const git_strarray list{texts.data(), texts.size()};
    check_git(git_pathspec_new(GitOut(globs_), &list), "output.diff.include", ExitCode::usage);
  }
  bool operator()(const std::string& path) const {
    return globs_ && git_pathspec_matches_path(globs_.get(), GIT_PATHSPEC_USE_CASE, path.c_str());
  }

 private:
  GitPathspec globs_;
};

std::string list_of(const std::vector<std::string>& paths) {
  constexpr std::size_t kShown = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(paths.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + path_text(paths[i]);
  }
  if (paths.size() > kShown) text += " and " + std::to_string(paths.size() - kShown) + " more";
  return text;
}

/// Changes that a diff can't hold end the run: their loss in silence would be worse.
void refuse(const std::vector<Change>& changes, const StartState& start) {
  std::vector<std::string> lfs;
  std::vector<std::string> submodules;
  for (const Change& change : changes) {
    if (const auto name = start.submodule(change.path); !name.empty()) {
      if (submodules.empty() || submodules.back() != name) submodules.push_back(name);
    } else if (start.lfs(change.path)) {
      lfs.push_back(change.path);
    }
  }
  if (!submodules.empty()) {
    throw Error("the diff can't hold changes inside a submodule: " + list_of(submodules),
                ExitCode::task_failed);
  }
  if (!lfs.empty()) {
    throw Error("the diff can't hold files that git keeps by filter=lfs: " + list_of(lfs),
                ExitCode::task_failed);
  }
}

/// "PATH sha256:… BYTES" of a file that is larger than a diff may hold, else "".
std::string too_large(const Change& change, std::uint64_t max_bytes) {
  const auto exceeds = [&](const auto& side) { return side && side->content.size() > max_bytes; };
  if (!exceeds(change.before) && !exceeds(change.after)) return "";
  if (!change.after) return change.path + " deleted";
  return change.path + " sha256:" + sha256_hex(change.after->content) + " " +
         std::to_string(change.after->content.size());
}

bool is_at_or_below(const std::string& path, const std::string& place) {
  return place.empty() || path == place || path.starts_with(place + "/");
}

/// Whether a side is larger than a diff may hold, told without reading it.
bool is_too_large(const ChangedPath& changed, const Files& start, const Files& view,
                  std::uint64_t max_bytes) {
  const auto exceeds = [&](const Files& files) {
    const auto status = files.status(changed.path);
    return status && status->kind == FileStatus::Kind::file && status->size > max_bytes;
  };
  return (changed.kind != ChangedPath::Kind::added && exceeds(start)) ||
         (changed.kind != ChangedPath::Kind::deleted && exceeds(view));
}

/// The changes that belong into the diff; ignored and too large ones are listed in `diff`.
std::vector<Change> select(const Workspace& workspace, const Files& view, const StartState& start,
                           const DiffOptions& options, Diff& diff) {
  const Included included(options.include);
  std::vector<Change> changes;
  std::uint64_t bytes = 0;
  for (const ChangedPath& changed : workspace.changed_paths(view, options.pace)) {
    if (in_git_folder(changed.path)) continue;
    if (!is_at_or_below(changed.path, options.only)) continue;
    if (options.pace) options.pace();
    if (!start.tracked(changed.path) && start.ignored(changed.path) && !included(changed.path)) {
      diff.ignored_changes.push_back(changed.path);
      continue;
    }
    if (options.draft && is_too_large(changed, workspace.start(), view, options.max_file_size)) {
      diff.too_large.push_back(changed.path);
      continue;
    }
    Change change = read_change(changed, workspace.start(), view);
    if (std::string line = too_large(change, options.max_file_size); !line.empty()) {
      diff.too_large.push_back(std::move(line));
      continue;
    }
    for (const auto& side : {&change.before, &change.after})
      bytes += *side ? (*side)->content.size() : 0;
    if (bytes > options.max_bytes)
      throw Error("the changes are too large for a diff: more than " +
                      std::to_string(options.max_bytes >> 20) + " MiB, reached at " +
                      path_text(changed.path),
                  ExitCode::task_failed);
    changes.push_back(std::move(change));
  }
  return changes;
}

bool clean(const std::vector<Change>& changes, const StartState& start) {
  return std::all_of(changes.begin(), changes.end(), [&](const Change& change) {
    return start.head_has(change.path, change.before);
  });
}

DiffBase choose_base(DiffBase asked, const std::vector<Change>& changes, const StartState& start) {
  const bool has_head = !start.head_commit().empty();
  if (asked == DiffBase::head && !has_head) {
    throw Error("output.diff.base: head: the workspace has no commit; use start", ExitCode::usage);
  }
  if (asked != DiffBase::automatic) return asked;
  return has_head && clean(changes, start) ? DiffBase::head : DiffBase::start;
}

std::vector<std::string> judge_applies_to(const std::vector<Change>& changes,
                                          const TouchedFiles& before, const StartState& start) {
  const auto side = [&](const std::string& path) -> std::optional<TreeEntry> {
    const auto found = before.find(start.prefix() + path);
    return found == before.end() ? std::nullopt : std::optional(found->second);
  };
  const auto all = [&](const auto& holds) {
    return std::all_of(changes.begin(), changes.end(), holds);
  };
  std::vector<std::string> names;
  if (all([&](const Change& c) { return c.before == side(c.path); })) names.push_back("start");
  if (!start.head_commit().empty() &&
      all([&](const Change& c) { return start.head_has(c.path, side(c.path)); })) {
    names.push_back("head");
  }
  if (start.has_index() &&
      all([&](const Change& c) { return start.index_has(c.path, side(c.path)); })) {
    names.push_back("index");
  }
  return names;
}

/// One that nobody applies.
PatchText draft_patch(const TouchedFiles& before, const TouchedFiles& after,
                      const DiffOptions& options) {
  const auto only_in = [](const TouchedFiles& one, const TouchedFiles& other) {
    return static_cast<std::size_t>(std::count_if(
        one.begin(), one.end(), [&](const auto& file) { return !other.contains(file.first); }));
  };
  const std::size_t gone = only_in(before, after);
  const bool few = gone == 0 || only_in(after, before) <= kMostPairs / gone;
  return make_patch(before, after, options.context_lines, options.renames && few, options.pace);
}

/// Renames are a nicety: where one can't be proved to apply, the same change is told without them.
PatchText proved_patch(const TouchedFiles& before, const TouchedFiles& after,
                       const DiffOptions& options) {
  std::string flaw;
  for (const bool renames : {true, false}) {
    if (renames && !options.renames) continue;
    PatchText patch = make_patch(before, after, options.context_lines, renames, options.pace);
    flaw = check_patch(patch.text, before, after);
    if (flaw.empty()) return patch;
  }
  throw Error("the diff does not pass its own check: " + flaw, ExitCode::internal);
}

std::vector<DiffFile> without_prefix(std::vector<DiffFile> files, const std::string& prefix) {
  for (DiffFile& file : files) {
    file.path.erase(0, prefix.size());
    if (!file.old_path.empty()) file.old_path.erase(0, prefix.size());
  }
  return files;
}

}  // namespace

Diff make_diff(const Workspace& workspace, const Files& view, const fs::path& root,
               const DiffOptions& options) {
  const StartState start(root);
  Diff diff;
  diff.head_commit = start.head_commit();
  std::vector<Change> changes = select(workspace, view, start, options, diff);
  refuse(changes, start);
  const DiffBase base = choose_base(options.base, changes, start);
  diff.base = base == DiffBase::head ? "head" : "start";

  TouchedFiles before;
  TouchedFiles after;
  // A draft has no other use of them.
  const auto take = [&](std::optional<TreeEntry>& entry) {
    return options.draft ? std::exchange(entry, {}) : entry;
  };
  for (Change& change : changes) {
    if (options.pace) options.pace();
    const auto put = [&](TouchedFiles& side, std::optional<TreeEntry> entry) {
      if (entry) side.emplace(start.prefix() + change.path, std::move(*entry));
    };
    put(before, base == DiffBase::head ? start.head_entry(change.path) : take(change.before));
    put(after, take(change.after));
  }
  PatchText patch =
      options.draft ? draft_patch(before, after, options) : proved_patch(before, after, options);
  diff.text = std::move(patch.text);
  diff.files = without_prefix(std::move(patch.files), start.prefix());
  if (!options.draft) diff.applies_to = judge_applies_to(changes, before, start);
  return diff;
}

}  // namespace sortie
