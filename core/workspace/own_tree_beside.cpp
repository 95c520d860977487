#include "core/workspace/own_tree_beside.h"

#include <sys/stat.h>

#include <set>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/files/files.h"
#include "core/workspace/overlay.h"
#include "core/workspace/put_back.h"
#include "core/workspace/start_differences.h"
#include "core/workspace/start_keeping.h"
#include "core/workspace/tree.h"
#include "core/workspace/tree_copy.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

using BesideChange = ChangedPath::Kind;

/// Judges paths of the other tree against the start: those that the run had changed when it was
/// made, and those that differ from the user's own tree since.
class BesideWorkspace : public Workspace {
 public:
  BesideWorkspace(const OwnTreeWorkspace& run, MountPlan plan)
      : Workspace(Isolation::none, std::move(plan), run), run_(run) {
    for (const StartDifference& one : start_differences(run.list())) changed_.insert(one.path);
  }
  const Files& start() const override { return run_.start(); }

 private:
  /// The paths that may differ from the user's own tree.
  virtual std::vector<ChangedPath> find_own(const Files& view,
                                            const CancelCheck& check_cancel) const = 0;

  std::vector<ChangedPath> find_changes(const Files& view,
                                        const CancelCheck& check_cancel) const override {
    std::vector<ChangedPath> changes;
    std::set<std::string> paths = changed_;
    for (const ChangedPath& one : find_own(view, check_cancel)) {
      if (one.kind == BesideChange::unreadable || one.kind == BesideChange::unreadable_file)
        changes.push_back({one.path, one.kind});
      else
        paths.insert(one.path);
    }
    for (const ChangedPath& one : changes) paths.erase(one.path);
    for (const std::string& path : paths) {
      if (check_cancel) check_cancel();
      judge(path, view, changes);
    }
    std::sort(changes.begin(), changes.end(),
              [](const auto& a, const auto& b) { return a.path < b.path; });
    return changes;
  }

  void judge(const std::string& path, const Files& view, std::vector<ChangedPath>& changes) const {
    const auto was = leaf_at(start(), path);
    const auto is = leaf_at(view, path);
    if (is && !was)
      changes.push_back({path, BesideChange::added});
    else if (was && !is)
      changes.push_back({path, BesideChange::deleted});
    else if (is && !is_same_file(path, start(), *was, view, *is))
      changes.push_back({path, BesideChange::modified});
  }

  /// What lies behind a link is not at the path.
  static std::optional<FileStatus> leaf_at(const Files& files, const std::string& path) {
    using Kind = FileStatus::Kind;
    const fs::path above = fs::path(path).parent_path();
    if (!has_path(files, path) || (!above.empty() && files.resolve(above) != above)) return {};
    auto status = files.status(path);
    if (status && status->kind != Kind::file && status->kind != Kind::symlink) status.reset();
    return status;
  }

  const OwnTreeWorkspace& run_;
  std::set<std::string> changed_;
};

class OverlayBeside : public BesideWorkspace {
 public:
  OverlayBeside(const OwnTreeWorkspace& run, std::unique_ptr<Workspace> overlay)
      : BesideWorkspace(run, overlay->mount_plan()), overlay_(std::move(overlay)) {}

 private:
  std::vector<ChangedPath> find_own(const Files& view,
                                    const CancelCheck& check_cancel) const override {
    return overlay_->changed_paths(view, check_cancel);
  }

  std::unique_ptr<Workspace> overlay_;
};

MountPlan copy_plan(const MountPlan& run, const fs::path& tree) {
  MountPlan plan = run;
  plan.kind = MountPlan::Kind::bind;
  plan.in_place = false;
  plan.source = tree;
  return plan;
}

class CopyBeside : public BesideWorkspace {
 public:
  CopyBeside(const OwnTreeWorkspace& run, const fs::path& tree)
      : BesideWorkspace(run, copy_plan(run.mount_plan(), tree)) {
    list_.root = tree;
    list_.cover = run.list().cover;
    const CopyManifest manifest = copy_tree(run.list().root, tree, list_.cover);
    for (const auto& [path, file] : manifest.files) list_.add({.path = path, .stamp = file.copy});
    list_.sort();
  }

 private:
  std::vector<ChangedPath> find_own(const Files&, const CancelCheck& check_cancel) const override {
    std::vector<ChangedPath> changes;
    for (const StartDifference& one : start_differences(list_, check_cancel)) {
      const bool folder = one.is_there && S_ISDIR(one.now.st_mode);
      if (one.is_there && one.is_closed)
        changes.push_back(
            {one.path, folder ? BesideChange::unreadable : BesideChange::unreadable_file});
      else if (!folder || one.was != nullptr)
        changes.push_back({one.path});
    }
    return changes;
  }

  StartList list_;  ///< of the copy; without folders
};

class RunItself : public BesideWorkspace {
 public:
  explicit RunItself(const OwnTreeWorkspace& run)
      : BesideWorkspace(run, run.mount_plan()), run_(run) {}

 private:
  std::vector<ChangedPath> find_own(const Files& view,
                                    const CancelCheck& check_cancel) const override {
    return run_.changed_paths(view, check_cancel);
  }

  const OwnTreeWorkspace& run_;
};

void check_size(const OwnTreeWorkspace& run, const fs::path& folder) {
  if (can_clone(run.list().root, folder)) return;
  const TreeSize size = measure_tree(run.list().root, run.list().cover);
  if (size.bytes > run.copy_limit())
    throw Error(
        "verify.in: fresh needs a copy of the workspace where no overlay can be made, and it "
        "holds " +
            std::to_string(size.bytes) + " bytes; a copy may have at most " +
            std::to_string(run.copy_limit()) +
            "; raise workspace.copy_limit, or write verify: {in: run}",
        ExitCode::environment);
}

}  // namespace

std::unique_ptr<Workspace> make_beside_own_tree(const OwnTreeWorkspace& run, Beside kind,
                                                const fs::path& folder) {
  switch (kind) {
    case Beside::overlay:
      return std::make_unique<OverlayBeside>(run, make_overlay_beside(run, folder));
    case Beside::copy:
      check_size(run, folder);
      return std::make_unique<CopyBeside>(run, folder / "tree");
    case Beside::itself:
      break;
  }
  return std::make_unique<RunItself>(run);
}

void put_start_in(const OwnTreeWorkspace& run, const Fd& root, std::vector<fs::path> leave) {
  put_back_in({run.list(), run.start_files_kept(), nullptr,
               read_work_times(start_place(run.state()).folder), std::move(leave)},
              root);
}

}  // namespace sortie
