#pragma once

#include <memory>
#include <string>

#include "core/workspace/start_files.h"
#include "core/workspace/start_list.h"
#include "core/workspace/work_times.h"
#include "core/workspace/workspace.h"

namespace sortie {

/// A workspace that is the user's own tree (isolation none): the run's changes appear in it at once.
/// Its state at the start is kept in options.state, from which undo_own_tree() puts it back.
class OwnTreeWorkspace : public Workspace {
 public:
  /// Keeps the start, or reuses what an earlier process of the same run kept in options.state.
  /// @throws Error  ExitCode::environment: as keep_start_list()
  OwnTreeWorkspace(const WorkspaceOptions& options, std::string reason);

  const Files& start() const override { return start_at_; }
  WorkTimes* work_times() noexcept override { return &times_; }
  std::vector<std::filesystem::path> linked_outside() const override { return list_.linked; }

  /// The `.git` folders, files and links of other repositories in the tree, absolute: a diff has
  /// nothing of them.
  std::vector<std::filesystem::path> nested_repositories() const;
  const StartList& list() const noexcept { return list_; }
  const StartFiles& start_files_kept() const noexcept { return start_at_; }
  const std::filesystem::path& state() const noexcept { return state_; }
  std::uint64_t copy_limit() const noexcept { return copy_limit_; }
  /// The times are recorded by those who work in the tree.
  WorkTimes& times() const noexcept { return times_; }

 private:
  std::vector<ChangedPath> find_changes(const Files& view,
                                        const CancelCheck& check_cancel) const override;

  const StartList list_;
  const StartFiles start_at_;
  mutable WorkTimes times_;
  std::filesystem::path state_;
  std::uint64_t copy_limit_;
};

/// With options.keeps_start an OwnTreeWorkspace; else only the tree itself, which costs nothing: no
/// change is found in it.
std::unique_ptr<Workspace> make_own_tree(const WorkspaceOptions& options, std::string reason);

/// "", or why a run can't work in the user's own tree here.
std::string why_not_own_tree(const WorkspaceOptions& options);

}  // namespace sortie
