#include "core/workspace/undo_own_tree.h"

#include "core/files/file_name.h"
#include "core/workspace/own_tree_aside.h"
#include "core/workspace/start_files.h"
#include "core/workspace/start_keeping.h"
#include "core/workspace/start_record.h"
#include "core/workspace/start_state.h"
#include "core/workspace/work_times.h"

namespace fs = std::filesystem;

namespace sortie {

bool has_own_tree(const fs::path& state) {
  std::error_code error;
  return fs::exists(start_place(state).list(), error);
}

UndoneTree undo_own_tree(const fs::path& state) {
  const StartPlace place = start_place(state);
  std::vector<WorkTime> times = read_work_times(place.folder);
  if (!has_own_tree(state) || times.empty()) return {};  // nothing was run
  const StartList list = load_start_list(place);
  WorkspaceOptions options;
  options.root = list.root;
  options.state = state;
  const StartRecord record = keep_start(options);
  end_aside(state, record);
  const StartFiles start(list, place.kept(), record.objects);
  const StartState rules(record, list.root);
  WorkTimes now(place.folder);
  const WorkTimeGuard work(now);  // what is done here is not somebody else's, should it be killed
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
  if (!undone.failed.empty()) add("could not be put back: " + some_of(undone.failed));
  return text;
}

}  // namespace sortie
