#include "core/workspace/own_tree.h"

#include <fcntl.h>
#include <strings.h>

#include "core/base/error.h"
#include "core/workspace/end_aside.h"
#include "core/workspace/start_differences.h"
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
          .beside = options.state,
          .ended = start_place("").folder / kEndOfWork,
          .cover = output_folders(options)};
}

bool is_leaf_mode(mode_t mode) { return S_ISREG(mode) || S_ISLNK(mode); }

/// Compares the paths that may differ with the start.
class OwnTreeJudge {
 public:
  explicit OwnTreeJudge(const OwnTreeWorkspace& tree)
      : start_(tree.start()),
        now_(open_folder(AT_FDCWD, tree.list().root.native(), tree.list().root)) {}

  void judge(const StartDifference& one, std::vector<ChangedPath>& changes) const {
    using Change = ChangedPath::Kind;
    using Meant = ChangedPath::Own;
    const bool was = one.was != nullptr && is_leaf_mode(one.was->stamp.mode);
    const bool is = one.is_there && is_leaf_mode(one.now.st_mode);
    // Then its content at the start is unknown.
    const Meant own =
        was && one.was->held == StartEntry::Held::nowhere ? Meant::changed : Meant::as_it_was;
    if (one.is_there && one.is_closed && (is || S_ISDIR(one.now.st_mode)))
      changes.push_back({one.path, is ? Change::unreadable_file : Change::unreadable,
                         is ? own : Meant::as_it_was});
    else if (is && !was)
      changes.push_back({one.path, Change::added});
    else if (was && !is)
      changes.push_back({one.path, Change::deleted, own});
    else if (is && (own == Meant::changed || !same(one.path)))
      changes.push_back({one.path, Change::modified, own});
  }

 private:
  bool same(const std::string& path) const {
    const auto was = start_.status(path);
    const auto is = now_.status(path);
    return was && is && is_same_file(path, start_, *was, now_, *is);
  }

  const Files& start_;
  const DiskFiles now_;
};

/// The user's own tree, of whose start nothing is kept.
class UnkeptTreeWorkspace : public Workspace {
 public:
  UnkeptTreeWorkspace(const WorkspaceOptions& options, std::string reason)
      : Workspace(Isolation::none, std::move(reason),
                  {.kind = options.namespaces ? MountPlan::Kind::bind : MountPlan::Kind::direct,
                   .in_place = true,
                   .workspace = options.root,
                   .source = options.root,
                   .upper = {},
                   .work = {},
                   .beside = {},
                   .ended = {},
                   .cover = output_folders(options)},
                  options) {}
  bool keeps_start() const noexcept override { return false; }

 private:
  std::vector<ChangedPath> find_changes(const Files&, const CancelCheck&) const override {
    return {};
  }
};

/// Puts back what a killed process of the run left aside, before anything is compared.
const StartList& taken_up(const StartList& list, const WorkspaceOptions& options,
                          const StartRecord& record) {
  end_dead_times(start_place(options.state).folder, kPerhapsAfterLife);
  end_aside(options.state, record);
  return list;
}

}  // namespace

OwnTreeWorkspace::OwnTreeWorkspace(const WorkspaceOptions& options, std::string reason)
    : Workspace(Isolation::none, std::move(reason), own_tree_plan(options), options),
      list_(keep_start_list(options, record())),
      start_at_(taken_up(list_, options, record()), start_place(options.state).kept(),
                record().objects),
      times_(start_place(options.state).folder),
      state_(options.state),
      copy_limit_(options.copy_limit) {}

std::vector<ChangedPath> OwnTreeWorkspace::find_changes(const Files&,
                                                        const CancelCheck& check_cancel) const {
  const OwnTreeJudge judge(*this);
  std::vector<ChangedPath> changes;
  for (const StartDifference& one : start_differences(list_, check_cancel)) {
    if (check_cancel) check_cancel();
    judge.judge(one, changes);
  }
  return changes;
}

std::vector<fs::path> OwnTreeWorkspace::nested_repositories() const {
  std::vector<fs::path> found;
  for (const StartEntry& entry : list_.entries())
    if (::strcasecmp(fs::path(entry.path).filename().c_str(), ".git") == 0)
      found.push_back(list_.root / entry.path);
  return found;
}

std::unique_ptr<Workspace> make_own_tree(const WorkspaceOptions& options, std::string reason) {
  if (!options.keeps_start)
    return std::make_unique<UnkeptTreeWorkspace>(options, std::move(reason));
  WorkspaceOptions at_once = options;  // the list of the start is made by its record
  at_once.keeps_record_later = false;
  return std::make_unique<OwnTreeWorkspace>(at_once, std::move(reason));
}

std::string why_not_own_tree(const WorkspaceOptions& options) {
  if (options.namespaces || !options.protects) return "";
  return "namespaces are not available, and without them nothing keeps commands from changing "
         "protected paths in your own tree";
}

}  // namespace sortie
