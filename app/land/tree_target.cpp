#include "app/land/tree_target.h"

#include <fcntl.h>

#include <cerrno>

#include "core/base/error.h"
#include "core/git/git_info.h"

namespace sortie {

TreeTarget::TreeTarget(const std::filesystem::path& toplevel)
    : root_(::open(toplevel.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
  if (!root_) throw path_error(toplevel.string(), errno);
  const GitInfo info = read_git_info(toplevel).value_or(GitInfo{});
  branch_ = info.branch;
  commit_ = info.head_commit;
}

PresentEntry TreeTarget::present(const std::string& path) const {
  return read_present(root_.get(), path);
}

std::string TreeTarget::land(const std::vector<PathChange>& changes, const std::string&) {
  apply_ = std::make_unique<TreeApply>(root_.get(), changes);
  apply_->perform();
  return "";
}

}  // namespace sortie
