#include "core/workspace/own_tree.h"

#include <fcntl.h>

#include "core/base/error.h"
#include "core/workspace/start_differences.h"
#include "core/workspace/start_files.h"
#include "core/workspace/start_keeping.h"
#include "core/workspace/tree.h"
#include "core/workspace/work_times.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

MountPlan own_tree_plan(const WorkspaceOptions& options) {
  return {.kind = options.namespaces ? MountPlan::Kind::bind : MountPlan::Kind::direct,
          .in_place = true,
          .workspace = options.root,
          .source = options.root,
          .upper = {},
          .work = {},
          .cover = output_folders(options)};
}

bool is_leaf_mode(mode_t mode) { return S_ISREG(mode) || S_ISLNK(mode); }

class OwnTreeWorkspace : public Workspace {
 public:
  OwnTreeWorkspace(const WorkspaceOptions& options, std::string reason)
      : Workspace(Isolation::none, std::move(reason), own_tree_plan(options), options),
        list_(keep_start_list(options, record())),
        start_at_(list_, start_place(options.state).kept(), record().objects),
        times_(start_place(options.state).folder) {}

  const Files& start() const override { return start_at_; }
  WorkTimes* work_times() noexcept override { return &times_; }
  std::vector<fs::path> linked_outside() const override { return list_.linked; }

 private:
  std::vector<ChangedPath> find_changes(const Files&,
                                        const CancelCheck& check_cancel) const override {
    const fs::path& root = mount_plan().source;
    const DiskFiles now(open_folder(AT_FDCWD, root.native(), root));
    std::vector<ChangedPath> changes;
    for (const StartDifference& one : start_differences(list_, check_cancel)) {
      if (check_cancel) check_cancel();
      judge(one, now, changes);
    }
    return changes;
  }

  void judge(const StartDifference& one, const Files& now,
             std::vector<ChangedPath>& changes) const {
    using Change = ChangedPath::Kind;
    using Meant = ChangedPath::Own;
    const bool was = one.was != nullptr && is_leaf_mode(one.was->stamp.mode);
    const bool is = one.is_there && is_leaf_mode(one.now.st_mode);
    // What git ignores was not kept, so that its content at the start is unknown.
    const Meant own =
        was && one.was->held == StartEntry::Held::nowhere ? Meant::changed : Meant::as_it_was;
    if (one.is_there && one.is_closed && (is || S_ISDIR(one.now.st_mode)))
      changes.push_back({one.path, is ? Change::unreadable_file : Change::unreadable,
                         is ? own : Meant::as_it_was});
    else if (is && !was)
      changes.push_back({one.path, Change::added});
    else if (was && !is)
      changes.push_back({one.path, Change::deleted, own});
    else if (is && (own == Meant::changed || !same(one.path, now)))
      changes.push_back({one.path, Change::modified, own});
  }

  bool same(const std::string& path, const Files& now) const {
    const auto was = start_at_.status(path);
    const auto is = now.status(path);
    return was && is && is_same_file(path, start_at_, *was, now, *is);
  }

  const StartList list_;
  const StartFiles start_at_;
  WorkTimes times_;
};

}  // namespace

std::unique_ptr<Workspace> make_own_tree(const WorkspaceOptions& options, std::string reason) {
  return std::make_unique<OwnTreeWorkspace>(options, std::move(reason));
}

std::string why_not_own_tree(const WorkspaceOptions& options) {
  if (options.namespaces || !options.protects) return "";
  return "namespaces are not available, and without them nothing keeps commands from changing "
         "protected paths in your own tree";
}

}  // namespace sortie
