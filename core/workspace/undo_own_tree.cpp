#include "core/workspace/undo_own_tree.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/files/path_below.h"
#include "core/workspace/end_aside.h"
#include "core/workspace/start_differences.h"
#include "core/workspace/start_files.h"
#include "core/workspace/start_keeping.h"
#include "core/workspace/start_record.h"
#include "core/workspace/start_state.h"
#include "core/workspace/tree.h"
#include "core/workspace/whose_change.h"
#include "core/workspace/work_times.h"

namespace fs = std::filesystem;

namespace sortie {

namespace {

/// In the state of a run whose changes stay, however it ends.
constexpr const char* kNeverUndone = "never-undone";

}  // namespace

bool has_own_tree(const fs::path& state) {
  std::error_code error;
  return fs::exists(start_place(state).list(), error) && !fs::exists(state / kNeverUndone, error);
}

void never_undo(const fs::path& state) { write_file(state / kNeverUndone, "", 0600); }

namespace {

/// What was kept of the start.
struct KeptStart {
  explicit KeptStart(const fs::path& state)
      : place(start_place(state)),
        list(load_start_list(place)),
        record(keep_start(options_of(list, state))),
        files(list, place.kept(), record.objects),
        rules(record, list.root) {}

  static WorkspaceOptions options_of(const StartList& list, const fs::path& state) {
    WorkspaceOptions options;
    options.root = list.root;
    options.state = state;
    return options;
  }

  const StartPlace place;
  const StartList list;
  const StartRecord record;
  const StartFiles files;
  const StartState rules;
};

/// What is put back is the run's, to be gone on with should this be killed: moving a file writes to
/// folders that tell whose it is. On a full disk it goes without.
class UndoTime {
 public:
  explicit UndoTime(const fs::path& folder) {
    try {
      times_.emplace(folder);
      work_.emplace(*times_);
    } catch (const Error&) {
    }
  }

 private:
  std::optional<WorkTimes> times_;
  std::optional<WorkTimeGuard> work_;
};

fs::path undo_mark(const fs::path& state) { return start_place(state).folder / "undo"; }

/// Finds what somebody else changed.
class OthersWork {
 public:
  OthersWork(const KeptStart& kept, const std::vector<fs::path>& apart)
      : kept_(kept),
        whose_(kept.list.root, read_work_times(kept.place.folder)),
        now_(open_folder(AT_FDCWD, kept.list.root.native(), kept.list.root)) {
    for (const fs::path& path : apart)
      if (const auto below = path_below(path, kept.list.root)) apart_.push_back(*below);
  }

  std::vector<std::string> find() const {
    std::vector<std::string> paths;
    for (const StartDifference& one : start_differences(kept_.list))
      if (!is_below_any(one.path, apart_) && is_by_others(one) && counts(one))
        paths.push_back(one.path);
    return paths;
  }

 private:
  bool is_by_others(const StartDifference& one) const {
    if (one.is_there) return !S_ISDIR(one.now.st_mode) && whose_.is_of_others(one);
    if (S_ISDIR(one.was->stamp.mode)) return false;
    // Removing it wrote to its folder; or somebody removed that.
    struct stat above {};
    fs::path folder = kept_.list.root / fs::path(one.path).parent_path();
    while (::lstat(folder.c_str(), &above) != 0 && folder != kept_.list.root)
      folder = folder.parent_path();
    return !whose_.is_within_work(stamp_of(above).ctime) &&
           stamp_of(above).ctime > kept_.record.began;
  }

  bool counts(const StartDifference& one) const {
    if (one.was == nullptr) return kept_.rules.tracked(one.path) || !kept_.rules.ignored(one.path);
    if (one.was->is_ignored) return false;
    if (!one.is_there) return true;
    const auto was = kept_.files.status(one.path);
    const auto is = now_.status(one.path);
    return !was || !is || !is_same_file(one.path, kept_.files, *was, now_, *is);
  }

  const KeptStart& kept_;
  const WhoseChange whose_;
  const DiskFiles now_;
  std::vector<fs::path> apart_;
};

}  // namespace

bool undo_has_begun(const fs::path& state) {
  std::error_code error;
  return fs::exists(undo_mark(state), error);
}

std::vector<std::string> changed_by_others(const fs::path& state,
                                           const std::vector<fs::path>& apart) {
  return OthersWork(KeptStart(state), apart).find();
}

UndoneTree undo_own_tree(const fs::path& state) {
  const StartPlace place = start_place(state);
  end_dead_times(place.folder, kSurelyAfterLife);
  std::vector<WorkTime> times = read_work_times(place.folder);
  if (!has_own_tree(state) || times.empty()) return {};  // nothing was run
  const KeptStart kept(state);
  const auto& [at, list, record, start, rules] = kept;
  write_file(undo_mark(state), "", 0600);
  end_aside(state, record);
  times = read_work_times(place.folder);
  const UndoTime recorded(place.folder);
  UndoneTree undone = put_back_tree({list, start, &rules, std::move(times)});
  std::error_code error;
  if (undone.failed.empty()) fs::remove(place.list(), error);
  return undone;
}

std::string text_of(const UndoneTree& undone) {
  std::string text;
  if (!undone.put_back.empty())
    text = path_text(undone.root) +
           " is as it was at the start of the run again: " + some_of(undone.put_back) +
           (undone.put_back.size() == 1 ? " was put back" : " were put back");
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  if (!undone.left.empty())
    add("left as they are, since somebody else changed them while the run did not work: " +
        some_of(undone.left));
  if (!undone.inexact.empty()) add("not wholly as before: " + some_of(undone.inexact));
  if (!undone.failed.empty()) add("could not be put back: " + some_of(undone.failed));
  return text;
}

}  // namespace sortie
