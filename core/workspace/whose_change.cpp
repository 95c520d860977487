#include "core/workspace/whose_change.h"

#include <sys/stat.h>

#include "core/workspace/file_stamp.h"

namespace fs = std::filesystem;

namespace sortie {

bool WhoseChange::is_of_others(const StartDifference& one) const {
  const std::int64_t changed = stamp_of(one.now).ctime;
  if (is_within_work(changed)) return false;
  if (times_.empty() || changed >= times_.front().begin) return true;
  const fs::path folder = fs::path(one.path).parent_path();
  if (!asked_ || last_folder_ != folder) {
    last_answer_ = is_moved_by_others(folder);
    last_folder_ = folder;
    asked_ = true;
  }
  return last_answer_;
}

bool WhoseChange::is_moved_by_others(const fs::path& path) const {
  for (fs::path folder = path;; folder = folder.parent_path()) {
    struct stat status {};
    if (::lstat((root_ / folder).c_str(), &status) != 0) return true;
    const std::int64_t changed = stamp_of(status).ctime;
    if (changed >= times_.front().begin) return !is_within_work(changed);
    if (folder.empty()) return true;
  }
}

}  // namespace sortie
