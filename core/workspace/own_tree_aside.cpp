#include "core/workspace/own_tree_aside.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/files/open_beneath.h"
#include "core/workspace/end_aside.h"
#include "core/workspace/put_back.h"
#include "core/workspace/start_differences.h"
#include "core/workspace/start_keeping.h"
#include "core/workspace/tree.h"
#include "core/workspace/tree_copy.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

Error aside_error(const std::string& path) {
  return system_error("the run's state: " + path_text(path), ExitCode::environment);
}

/// The tree as the run has it: what is as at the start by the start's own entries, the rest with
/// copies.
class RunList {
 public:
  RunList(const OwnTreeWorkspace& run, const std::vector<StartDifference>& differences)
      : run_(run),
        place_(start_place(run.state())),
        root_(open_folder(AT_FDCWD, root().native(), root())) {
    list_.mark = run.list().mark;
    list_.root = root();
    list_.cover = run.list().cover;
    auto changed = differences.begin();
    for (const StartEntry& entry : run.list().entries()) {
      while (changed != differences.end() && changed->path < entry.path) ++changed;
      if (changed == differences.end() || changed->path != entry.path) list_.add(entry);
    }
    for (const StartDifference& one : differences)
      if (one.is_there) list_.add(entry_of(one));
    list_.sort();
  }

  void store() const {
    const Fd folder(::open(place_.kept().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder || ::syncfs(folder.get()) != 0) throw aside_error(place_.kept().native());
    write_file(aside_list(place_), start_list_text(list_), 0600);
  }

 private:
  const fs::path& root() const { return run_.list().root; }

  StartEntry entry_of(const StartDifference& one) {
    StartEntry entry{.path = one.path,
                     .stamp = stamp_of(one.now),
                     .user = one.now.st_uid,
                     .group = one.now.st_gid};
    if (S_ISLNK(one.now.st_mode)) {
      entry.held = StartEntry::Held::link;
      entry.place = DiskFiles(open_folder(AT_FDCWD, root().native(), root())).read_link(one.path);
    } else if (S_ISREG(one.now.st_mode)) {
      entry.held = StartEntry::Held::kept;
      entry.place = kRunsCopy + std::to_string(next_++);
      copy(one);
    }
    return entry;
  }

  void copy(const StartDifference& one) {
    const Fd from = open_beneath(root_.get(), one.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (!from) throw aside_error(one.path);
    const fs::path name = place_.kept() / (kRunsCopy + std::to_string(next_ - 1));
    const Fd to(::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!to) throw aside_error(name.native());
    copy_content(from.get(), to.get(), one.now.st_size, one.path);
  }

  const OwnTreeWorkspace& run_;
  const StartPlace place_;
  const Fd root_;
  StartList list_;
  std::uint64_t next_ = 0;
};

}  // namespace

OwnTreeAside::OwnTreeAside(const OwnTreeWorkspace& run, std::vector<fs::path> leave)
    : run_(run), work_(run.times()) {
  const StartPlace place = start_place(run.state());
  remove_runs_copies(place);
  RunList(run, start_differences(run.list())).store();
  try {
    const UndoneTree undone = put_back_tree({run.list(), run.start_files_kept(), nullptr,
                                             read_work_times(place.folder), std::move(leave)});
    if (!undone.failed.empty())
      throw Error("the tree of the start could not be made: " + some_of(undone.failed),
                  ExitCode::environment);
  } catch (...) {
    end_aside(run_.state(), run_.record());
    throw;
  }
}

OwnTreeAside::~OwnTreeAside() {
  try {
    end();
  } catch (const std::exception&) {  // the next one to open or undo the run tries again
  }
}

void OwnTreeAside::end() {
  if (!std::exchange(ended_, true)) end_aside(run_.state(), run_.record());
}

}  // namespace sortie
