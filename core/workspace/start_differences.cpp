#include "core/workspace/start_differences.h"

#include <fcntl.h>
#include <strings.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/path_below.h"
#include "core/workspace/tree.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

class StartWalk {
 public:
  StartWalk(const StartList& list, const CancelCheck& check_cancel)
      : list_(list),
        check_cancel_(check_cancel),
        root_(status_of_tree(list.root)),
        reader_(root_),
        seen_(list.entries().size()) {}

  std::vector<StartDifference> run() {
    look_at_root();
    folder(open_folder(AT_FDCWD, list_.root.native(), list_.root), "", 0);
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      const StartEntry& entry = list_.entries()[i];
      if (!seen_[i] && !is_below_any(entry.path, closed_))
        differences_.push_back({.path = entry.path, .was = &entry});
    }
    std::sort(differences_.begin(), differences_.end(),
              [](const auto& a, const auto& b) { return a.path < b.path; });
    return std::move(differences_);
  }

 private:
  void look_at_root() {
    const StartEntry* const was = list_.find("");
    if (was == nullptr) return;  // of a list without folders
    seen_[static_cast<std::size_t>(was - list_.entries().data())] = true;
    if (!is_same_folder(*was, root_))
      differences_.push_back({.path = "", .was = was, .now = root_, .is_there = true});
  }

  static bool is_same_folder(const StartEntry& was, const struct stat& now) {
    return was.stamp.mode == now.st_mode && was.user == now.st_uid && was.group == now.st_gid;
  }

  void folder(const Fd& open, const std::string& path, int depth) {
    if (depth > kDeepestFolder)
      throw Error(path_text(path) + ": folders nested too deeply", ExitCode::task_failed);
    for (const NamedStatus& entry : list_folder(open, list_.root / path)) {
      if (check_cancel_) check_cancel_();
      const std::string name = child_path(path, entry.name);
      if (!list_.cover.empty() && is_below_any(name, list_.cover)) continue;
      const bool git = ::strcasecmp(entry.name.c_str(), ".git") == 0;
      if (git && path.empty()) continue;
      one(open, entry, name, git, depth);
    }
  }

  /// Mostly the one after the last one, since both are sorted.
  const StartEntry* find(const std::string& path) {
    const auto& entries = list_.entries();
    const StartEntry* const found =
        next_ < entries.size() && entries[next_].path == path ? &entries[next_] : list_.find(path);
    if (found != nullptr) next_ = static_cast<std::size_t>(found - entries.data()) + 1;
    return found;
  }

  void one(const Fd& parent, const NamedStatus& entry, const std::string& path, bool git,
           int depth) {
    const StartEntry* const was = find(path);
    if (was != nullptr) seen_[static_cast<std::size_t>(was - list_.entries().data())] = true;
    const struct stat& now = entry.status;
    const bool is_folder = S_ISDIR(now.st_mode);
    const bool is_closed = !reader_.can_read(now);
    const bool same =
        was != nullptr && is_same_folder(*was, now) && (is_folder || was->stamp == stamp_of(now));
    if (!same)
      differences_.push_back(
          {.path = path, .was = was, .now = now, .is_there = true, .is_closed = is_closed});
    if (!is_folder || (git && was != nullptr && S_ISDIR(was->stamp.mode))) return;
    if (is_closed)
      closed_.push_back(path);
    else
      folder(open_folder(parent.get(), entry.name, list_.root / path), path, depth + 1);
  }

  const StartList& list_;
  const CancelCheck& check_cancel_;
  const struct stat root_;
  const TreeReader reader_;
  std::size_t next_ = 0;    ///< after the last one that was found
  std::vector<bool> seen_;  ///< of the list's entries
  std::vector<fs::path> closed_;
  std::vector<StartDifference> differences_;
};

}  // namespace

std::vector<StartDifference> start_differences(const StartList& list,
                                               const CancelCheck& check_cancel) {
  return StartWalk(list, check_cancel).run();
}

}  // namespace sortie
