#include "core/workspace/end_aside.h"

#include <vector>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/workspace/put_back.h"
#include "core/workspace/start_files.h"
#include "core/workspace/work_times.h"

namespace fs = std::filesystem;

namespace sortie {

fs::path aside_list(const StartPlace& place) { return place.folder / "aside"; }

void remove_runs_copies(const StartPlace& place) {
  std::error_code error;
  std::vector<fs::path> copies;
  for (fs::directory_iterator it(place.kept(), error), end; !error && it != end;
       it.increment(error))
    if (it->path().filename().native().starts_with(kRunsCopy)) copies.push_back(it->path());
  for (const fs::path& copy : copies) fs::remove(copy, error);
}

void end_aside(const fs::path& state, const StartRecord& record) {
  const StartPlace place = start_place(state);
  std::error_code error;
  if (!fs::exists(aside_list(place), error)) return;
  const StartList list = load_start_list(place, aside_list(place));
  const StartFiles run(list, place.kept(), record.objects);
  std::vector<WorkTime> times = read_work_times(place.folder);
  WorkTimes now(place.folder);
  const WorkTimeGuard work(now);
  const UndoneTree undone = put_back_tree({list, run, nullptr, std::move(times)});
  if (!undone.failed.empty())
    throw Error(
        "the run's state could not be put back after a verification: " + some_of(undone.failed),
        ExitCode::environment);
  fs::remove(aside_list(place), error);
  remove_runs_copies(place);
}

}  // namespace sortie
