#include "core/workspace/workspace.h"

#include <fcntl.h>

#include "core/base/error.h"
#include "core/workspace/tree.h"

namespace sortie {

Workspace::Workspace(Isolation isolation, std::string reason, MountPlan plan,
                     const WorkspaceOptions& options)
    : isolation_(isolation),
      reason_(std::move(reason)),
      plan_(std::move(plan)),
      unrecorded_(options),
      start_(open_folder(AT_FDCWD, options.root.native(), options.root)) {
  if (!options.keeps_record_later) keep_record();
}

Workspace::Workspace(Isolation isolation, MountPlan plan, const Workspace& run)
    : isolation_(isolation),
      reason_(run.reason_),
      plan_(std::move(plan)),
      record_(run.record_),
      submodules_(run.submodules_),
      start_(open_folder(AT_FDCWD, plan_.workspace.native(), plan_.workspace)) {}

Workspace::Workspace(const Workspace& whole, StartRecord record)
    : isolation_(whole.isolation_),
      reason_(whole.reason_),
      plan_(whole.plan_),
      record_(std::move(record)),
      start_(open_folder(AT_FDCWD, plan_.workspace.native(), plan_.workspace)) {}

void Workspace::keep_record() {
  if (!unrecorded_) return;
  record_ = keep_start(*unrecorded_);
  submodules_ = keep_submodules(*unrecorded_);
  unrecorded_.reset();
}

std::vector<ChangedPath> Workspace::changed_paths(const Files& view,
                                                  const CancelCheck& check_cancel) const {
  try {
    return find_changes(view, check_cancel);
  } catch (const ToolError& error) {
    throw Error(std::string("changes: ") + error.what(), ExitCode::task_failed);
  }
}

}  // namespace sortie
