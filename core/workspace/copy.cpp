#include "core/workspace/copy.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/path_below.h"
#include "core/workspace/copy_manifest.h"
#include "core/workspace/tree.h"
#include "core/workspace/tree_copy.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

MountPlan make_plan(const WorkspaceOptions& options) {
  MountPlan plan{.kind = options.namespaces ? MountPlan::Kind::bind : MountPlan::Kind::direct,
                 .workspace = options.root,
                 .source = options.state / "tree",
                 .upper = {},
                 .work = {},
                 .cover = {}};
  plan.cover = output_folders(options);
  return plan;
}

std::optional<CopyManifest> earlier_manifest(const fs::path& file) {
  if (!fs::exists(file)) return std::nullopt;
  return parse_manifest(read_file(file, 4ull << 30));
}

/// The same plan for another copy, wherever it is moved.
MountPlan plan_at(MountPlan plan, const Fd& tree) {
  plan.source = "/proc/self/fd/" + std::to_string(tree.get()) + "/.";
  return plan;
}

using Hidden = std::function<bool(const std::string& path)>;

/// Puts the run's copy back that a kill left aside (SwappedTree).
void end_swap(const fs::path& tree) {
  const fs::path aside = SwappedTree::aside(tree);
  if (!fs::is_directory(fs::symlink_status(aside))) return;
  remove_tree(tree);
  std::error_code error;
  fs::rename(aside, tree, error);
  if (error) throw Error(path_text(aside) + ": " + error.message(), ExitCode::environment);
}

/// A copy is complete once its manifest is on disk; an incomplete one is made again.
CopyManifest copy_or_take(const WorkspaceOptions& options, const MountPlan& plan) {
  const fs::path file = options.state / "manifest";
  end_swap(plan.source);
  if (auto earlier = earlier_manifest(file); earlier && fs::is_directory(plan.source)) {
    return std::move(*earlier);
  }
  std::error_code error;
  fs::create_directories(options.state, error);
  fs::remove_all(plan.source, error);
  if (error) throw Error(path_text(plan.source) + ": " + error.message(), ExitCode::environment);
  const bool clones = can_clone(options.root, options.state);
  const TreeSize size = measure_tree(options.root, plan.cover);
  if (!clones && size.bytes > options.copy_limit) {
    throw Error("the workspace holds " + std::to_string(size.bytes) +
                    " bytes; a copy may have at most " + std::to_string(options.copy_limit) +
                    "; raise workspace.copy_limit, or let the run work in the tree itself: "
                    "--isolation none",
                ExitCode::environment);
  }
  CopyManifest manifest = copy_tree(options.root, plan.source, plan.cover,
                                    options.namespaces ? Hidden() : options.hidden);
  write_file(file, manifest_text(manifest), 0600);
  return manifest;
}

/// Compares the copy with its manifest.
class CopyWalk {
 public:
  CopyWalk(const MountPlan& plan, const Hidden& hidden, const CopyManifest& manifest,
           const Files& start, const Files& copy, const CancelCheck& check_cancel)
      : plan_(plan),
        hidden_(hidden),
        manifest_(manifest),
        start_(start),
        copy_(copy),
        reader_(status_of_tree(plan.source)),
        check_cancel_(check_cancel) {}

  std::vector<ChangedPath> run() {
    folder(open_folder(AT_FDCWD, plan_.source.native(), plan_.source), "", 0);
    auto next = seen_.begin();
    for (const auto& [path, file] : manifest_.files) {  // both in byte order
      while (next != seen_.end() && *next < path) ++next;
      const bool still_there = next != seen_.end() && *next == path;
      if (!still_there && !is_below_any(path, unreadable_))
        changes_.push_back({path, ChangedPath::Kind::deleted});
    }
    std::sort(changes_.begin(), changes_.end(),
              [](const auto& a, const auto& b) { return a.path < b.path; });
    check_sources();
    return std::move(changes_);
  }

 private:
  void folder(const Fd& open, const std::string& path, int depth) {
    if (depth > kDeepestFolder) {
      throw Error(path_text(path) + ": folders nested too deeply", ExitCode::task_failed);
    }
    for (const NamedStatus& entry : list_folder(open, plan_.source / path)) {
      if (check_cancel_) check_cancel_();
      const std::string name = child_path(path, entry.name);
      if (is_below_any(name, plan_.cover) || (hidden_ && hidden_(name))) continue;
      if (S_ISDIR(entry.status.st_mode)) {
        if (!reader_.can_read(entry.status)) {
          changes_.push_back({name, ChangedPath::Kind::unreadable});
          unreadable_.push_back(name);
          continue;
        }
        folder(open_folder(open.get(), entry.name, plan_.source / name), name, depth + 1);
      } else if (S_ISREG(entry.status.st_mode) || S_ISLNK(entry.status.st_mode)) {
        file(name, entry.status);
      }
    }
    if (depth == 0) std::sort(seen_.begin(), seen_.end());
  }

  void file(const std::string& path, const struct stat& status) {
    using Change = ChangedPath::Kind;
    const auto found = manifest_.files.find(path);
    const bool was = found != manifest_.files.end();
    if (was) seen_.push_back(path);
    if (was && stamp_of(status) == found->second.copy) return;
    if (!reader_.can_read(status))
      changes_.push_back({path, Change::unreadable_file});
    else if (!was)
      changes_.push_back({path, Change::added});
    else if (!same(path) || !is_as_copied(path))  // equal changes of the user are checked later
      changes_.push_back({path, Change::modified});
  }

  /// Whether the user's own file is unchanged since the start.
  bool is_as_copied(const std::string& path) const {
    struct stat status {};
    return ::lstat((plan_.workspace / path).c_str(), &status) == 0 &&
           stamp_of(status) == manifest_.files.at(path).source;
  }

  bool same(const std::string& path) const {
    const auto was = start_.status(path);
    const auto now = copy_.status(path);
    return was && now && is_same_file(path, start_, *was, copy_, *now);
  }

  /// Whether the user's own tree has a file or link there. What lies behind a link is elsewhere.
  bool is_in_workspace(const std::string& path) const {
    struct stat status {};
    if (::lstat((plan_.workspace / path).c_str(), &status) != 0) return false;
    if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode)) return false;
    const fs::path above = fs::path(path).parent_path();
    try {
      return above.empty() || start_.resolve(above) == above;
    } catch (const ToolError&) {  // it leads out of the tree
      return false;
    }
  }

  /// The user's own files are the state at the start, unless someone wrote to them.
  void check_sources() {
    for (ChangedPath& change : changes_) {
      if (change.kind == ChangedPath::Kind::unreadable) continue;
      if (manifest_.files.contains(change.path)) {
        if (is_as_copied(change.path)) continue;
      } else if (!is_in_workspace(change.path)) {
        continue;
      }
      change.own = ChangedPath::Own::changed;
    }
  }

  const MountPlan& plan_;
  const Hidden& hidden_;
  const CopyManifest& manifest_;
  const Files& start_;
  const Files& copy_;
  const TreeReader reader_;
  const CancelCheck& check_cancel_;
  std::vector<std::string> seen_;
  std::vector<fs::path> unreadable_;
  std::vector<ChangedPath> changes_;
};

class CopyWorkspace : public Workspace {
 public:
  CopyWorkspace(const WorkspaceOptions& options, std::string reason)
      : Workspace(Isolation::copy, std::move(reason), make_plan(options), options),
        hidden_(options.namespaces ? Hidden() : options.hidden),
        manifest_(copy_or_take(options, mount_plan())) {}
  CopyWorkspace(const CopyWorkspace& run, CopyManifest manifest, Fd tree)
      : Workspace(Isolation::copy, plan_at(run.mount_plan(), tree), run),
        hidden_(run.hidden_),
        manifest_(std::move(manifest)),
        tree_(std::move(tree)) {}

  /// A second copy of the user's tree.
  std::unique_ptr<Workspace> make_beside(const fs::path& to) const {
    const MountPlan& plan = mount_plan();
    CopyManifest manifest = copy_tree(plan.workspace, to, plan.cover, hidden_);
    Fd tree = open_folder(AT_FDCWD, to.native(), to);
    return std::make_unique<CopyWorkspace>(*this, std::move(manifest), std::move(tree));
  }

 private:
  std::vector<ChangedPath> find_changes(const Files&,
                                        const CancelCheck& check_cancel) const override {
    // The copy itself, not the view: it has the inode numbers and times of the manifest.
    const fs::path& folder = mount_plan().source;
    const DiskFiles copy(open_folder(AT_FDCWD, folder.native(), folder));
    return CopyWalk(mount_plan(), hidden_, manifest_, start(), copy, check_cancel).run();
  }

  Hidden hidden_;  ///< paths that the plan hides if nothing is mounted
  CopyManifest manifest_;
  Fd tree_;  ///< a second copy, which may be moved
};

}  // namespace

SwappedTree::SwappedTree(fs::path tree, fs::path other)
    : tree_(std::move(tree)), other_(std::move(other)) {
  const auto move = [](const fs::path& from, const fs::path& to) {
    std::error_code error;
    fs::rename(from, to, error);
    if (error) throw Error(path_text(from) + ": " + error.message(), ExitCode::environment);
  };
  move(tree_, aside(tree_));
  try {
    move(other_, tree_);
  } catch (const Error&) {
    std::error_code ignored;
    fs::rename(aside(tree_), tree_, ignored);
    throw;
  }
}

SwappedTree::~SwappedTree() {
  std::error_code ignored;
  fs::rename(tree_, other_, ignored);
  fs::rename(aside(tree_), tree_, ignored);
}

std::unique_ptr<Workspace> make_copy_beside(const Workspace& run, const fs::path& to) {
  const auto* copy = dynamic_cast<const CopyWorkspace*>(&run);
  if (copy == nullptr) throw Error("the workspace is no copy", ExitCode::internal);
  return copy->make_beside(to);
}

std::unique_ptr<Workspace> make_copy(const WorkspaceOptions& options, std::string reason) {
  WorkspaceOptions at_once = options;  // what changes in the tree after this is no part of the copy
  at_once.keeps_record_later = false;
  return std::make_unique<CopyWorkspace>(at_once, std::move(reason));
}

}  // namespace sortie
