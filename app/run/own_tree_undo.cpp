#include "app/run/own_tree_undo.h"

#include <exception>
#include <string>
#include <utility>

#include "core/workspace/undo_own_tree.h"

namespace sortie {

void OwnTreeUndo::watch(const Workspace& workspace, const std::filesystem::path& state) {
  state_ = workspace.isolation() == Isolation::none ? state : std::filesystem::path();
}

void OwnTreeUndo::undo_if_failed(RunResult& result, RunRecord& record) {
  if (state_.empty() || result.code == ExitCode::success || std::exchange(tried_, true)) return;
  std::string text;
  try {
    const UndoneTree undone = undo_own_tree(state_);
    keeps_state_ = !undone.failed.empty();
    text = text_of(undone);
  } catch (const std::exception& error) {
    keeps_state_ = true;
    text = std::string("the tree was not put back as it was at the start: ") + error.what();
  }
  if (text.empty()) return;
  if (keeps_state_) {
    text += "; what is needed for it is kept in " + state_.string() +
            ", and the next run with this --out tries again";
    result.next =
        "mend what keeps the workspace from being as it was at the start (see the "
        "warnings), then run the same command again, which puts back the rest";
  }
  result.warnings.push_back(text);
  record.show_warning(text);
}

}  // namespace sortie
