#include "app/artifacts/output_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <vector>

#include "app/artifacts/run_mark.h"
#include "ci/attempts.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/process_end.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/files/new_file_mode.h"
#include "core/files/path_below.h"
#include "core/files/sync_together.h"
#include "core/record/diff_names.h"
#include "core/record/transcript.h"
#include "core/record/transcript_reader.h"
#include "core/task/task.h"
#include "core/text/text.h"
#include "core/workspace/tree.h"
#include "core/workspace/undo_own_tree.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLock = ".lock";
constexpr const char* kIgnoreFile = ".gitignore";
constexpr const char* kResultName = "result.json";
constexpr int kMoreLooks = 3;
/// For an attempt whose parent was killed.
constexpr std::chrono::seconds kForAnAttempt{15};

/// Keeps `git add --all` from adding transcripts.
void keep_out_of_git(const fs::path& folder) {
  std::error_code error;
  const fs::path file = folder / kIgnoreFile;
  // A power loss may have left it empty.
  const bool is_there = fs::exists(fs::symlink_status(file, error)) && !fs::is_empty(file, error);
  if (!is_there) write_file(file, "*\n", new_file_mode(), Synced::nothing);
}

/// The error for files that no run wrote.
std::string foreign_text(const std::vector<std::string>& names) {
  std::string text = "holds '" + one_line(names.front(), 100) + "'";
  if (names.size() == 2) text += " and one more";
  if (names.size() > 2) text += " and " + std::to_string(names.size() - 1) + " more";
  return text + (names.size() == 1 ? ", which no run wrote" : ", which no run wrote there");
}

/// What is in the folder of a run, but its lock, in the order in which it may go, so that the rest is
/// a run's at any time: what says so comes last.
/// @param last_ones  its files that say so
std::vector<fs::path> in_order_of_end(const fs::path& folder,
                                      const std::array<const char*, 2>& last_ones) {
  std::vector<fs::path> first;
  std::vector<fs::path> last(2);
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name == last_ones[0])
      last[0] = entry.path();
    else if (name == last_ones[1])
      last[1] = entry.path();
    else if (name != kLock)
      first.push_back(entry.path());
  }
  for (fs::path& path : last)
    if (!path.empty()) first.push_back(std::move(path));
  return first;
}

/// Removes a file, or a folder under another name, which counts as an unfinished write.
void remove_at_once(const fs::path& path) {
  std::error_code error;
  fs::path gone = path;
  if (fs::is_directory(fs::symlink_status(path, error)) &&
      !is_temporary_name(path.filename().native())) {
    gone = path.parent_path() / temporary_name();
    fs::rename(path, gone, error);
    if (error) gone = path;
  }
  remove_tree(gone);
}

/// Removes the whole run in a folder. A transcript may be torn: it is one only beside its result.
void remove_run(const fs::path& folder) {
  for (const fs::path& path : in_order_of_end(folder, {kTranscriptName, kResultName}))
    remove_at_once(path);
}

/// The id of the run in a folder; "" for none.
std::string run_id_in(const fs::path& folder) {
  if (const FoundOutput found = inspect_output(folder); !found.result.is_null())
    return found.result.string_at("run_id");
  std::string id;
  if (beginning_of(folder / kTranscriptName) != Beginning::record) return id;
  each_record_line(folder / kTranscriptName, [&id](std::string_view line) {
    id = parse_record(line).data.string_at("run_id");
    return false;
  });
  return id;
}

/// Makes room in OUT.prev for the run in --out. Of that run a part may be there already, if the process
/// was killed that moved it.
void make_previous(const fs::path& previous, const fs::path& out) {
  std::error_code error;
  const bool is_folder = fs::is_directory(fs::symlink_status(previous, error));
  const std::string id = run_id_in(out);
  if (!is_folder || id.empty() || run_id_in(previous) != id) {
    if (is_folder) remove_run(previous);
    remove_tree(previous);
  }
  fs::create_directories(previous, error);
  // From its first file on it is known as a run's.
  const TextFile result = read_bytes_file(out / kResultName, kMostResultBytes);
  if (result.problem.empty()) write_file(previous / kResultName, result.text, new_file_mode());
}

/// An attempt whose parent was killed ends by itself, and may have been seen between two of its files.
/// @param foreign  as in FoundOutput
/// @return  whether there is one that may have ended by now
bool wait_for_attempts(const fs::path& out, const std::vector<std::string>& foreign) {
  bool any = false;
  for (const std::string& name : foreign) {
    const std::string folder = name.substr(0, name.find('/'));
    if (folder == name || attempt_number(folder) == 0) continue;
    any = true;
    const fs::path file = out / folder / kLock;
    const Fd lock(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!lock || ::flock(lock.get(), LOCK_SH | LOCK_NB) == 0) continue;
    char text[32] = {};
    if (::pread(lock.get(), text, sizeof text - 1, 0) > 0)
      (void)wait_for_process_end(std::atoi(text), kForAnAttempt);
  }
  return any;
}

/// Checks that the finished run in --out may replace the previous one.
void check_previous(const fs::path& previous) {
  std::error_code error;
  const auto status = fs::symlink_status(previous, error);
  if (!fs::exists(status)) return;
  std::string problem = "is not a folder";
  if (fs::is_directory(status)) {
    auto foreign = inspect_output(previous).foreign;
    // Of a process that was killed as it made the folder.
    std::erase_if(foreign, is_temporary_name);
    if (foreign.empty()) return;
    problem = foreign_text(foreign);
  }
  throw Error(previous.string() + ": " + problem +
                  ", and the earlier run in --out would be moved there; --fresh discards it "
                  "instead",
              ExitCode::usage);
}

/// The id of the mount that a path is on; nothing if the kernel does not say.
std::optional<std::uint64_t> mount_of(const fs::path& path) {
  struct statx found {};
  if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_MNT_ID, &found) != 0 ||
      (found.stx_mask & STATX_MNT_ID) == 0)
    return std::nullopt;
  return found.stx_mnt_id;
}

/// Checks that files of --out can be renamed into OUT.prev: not out of a mount point, as that of a
/// container's volume is, and not into a folder that can't be made.
void check_moves(const fs::path& out, const fs::path& previous) {
  const fs::path parent = out.parent_path();
  std::error_code error;
  const bool exists = fs::exists(fs::symlink_status(previous, error));
  std::string problem;
  if (mount_of(out) != mount_of(exists ? previous : parent))
    problem = exists ? "is on another mount than " + previous.string() : "is a mount point";
  else if (!exists && ::access(parent.c_str(), W_OK | X_OK) != 0)
    problem = "lies in a folder that can't be written";
  if (problem.empty()) return;
  throw Error(
      "--out " + out.string() + ": " + problem + ", so the earlier run can't be moved to " +
          previous.string() + "; name " + (out / "run").string() +
          " or another folder inside of it, or give --fresh, which discards the earlier run",
      ExitCode::usage);
}

}  // namespace

fs::path checkpoint_file(const fs::path& out) {
  std::error_code error;
  return out / (fs::is_symlink(out / "state", error) ? "" : "state") / "changes.tar";
}

fs::path checkpoint_to_restore(const fs::path& out) { return out / "restore.tar"; }

OutputFolder::OutputFolder(const fs::path& path, std::chrono::milliseconds patience) {
  std::error_code error;
  // A repository may contain a link of that name, to anywhere.
  const fs::path named = path.has_filename() ? path : path.parent_path();
  if (fs::is_symlink(named, error))
    throw Error("--out " + path.string() + ": is a link; name the folder itself", ExitCode::usage);
  fs::create_directories(path, error);
  if (error) throw path_error("--out " + path.string(), error.value());
  path_ = fs::canonical(path, error);
  if (error || !fs::is_directory(path_))
    throw Error("--out " + path.string() + ": not a folder", ExitCode::usage);
  if (path_ == "/")
    throw Error("--out /: the whole machine can't be a folder for outputs", ExitCode::usage);
  folder_ = Fd(::open(path_.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder_) throw path_error("--out " + path_.string(), errno);
  // Before the lock is written: what is refused stays as it was.
  look();
  lock(patience);
  found_ = look();  // once more: nobody else writes here any more
}

std::string OutputFolder::leave_path() {
  struct stat held {};
  struct stat there {};
  if (::fstat(folder_.get(), &held) == 0 && ::stat(path_.c_str(), &there) == 0 &&
      held.st_dev == there.st_dev && held.st_ino == there.st_ino)
    return "";
  const fs::path open = "/proc/self/fd/" + std::to_string(folder_.get());
  std::error_code error;
  const fs::path now = fs::read_symlink(open, error);
  const std::string problem = "--out " + path_text(path_) +
                              ": was moved or replaced during the run; what the run has written "
                              "is in " +
                              (error ? "the folder of the start" : path_text(now));
  path_ = open;
  return problem;
}

void OutputFolder::take(Previous previous) {
  switch (previous) {
    case Previous::returned:
      clean_returned();
      return;
    case Previous::nothing:
      remove_state();  // what a run left that ended before it began
      clean();
      break;
    case Previous::resumed:
      clean();
      break;
    case Previous::restored:
      keep_checkpoint();
      remove_state();
      clean();
      break;
    case Previous::discarded:
    case Previous::kept:
      set_aside(previous == Previous::kept);
      break;
  }
  keep_out_of_git(path_);
}

/// Removes unfinished writes, and links: no run lays any but that of its state, and outputs would be
/// written where somebody else wants them.
void OutputFolder::clean() const {
  std::vector<fs::path> removed;
  for (const auto& entry : fs::directory_iterator(path_)) {
    const std::string name = entry.path().filename().string();
    if ((entry.is_symlink() && name != "state") || is_unfinished_write(name))
      removed.push_back(entry.path());
  }
  for (const fs::path& path : removed) remove_tree(path);
}

/// Removes the unfinished writes of a process that was killed as it recorded the end anew: beside the
/// artifacts, and in the folders of submodules' diffs. A folder that can't be cleaned is returned.
void OutputFolder::clean_returned() const noexcept {
  std::vector<fs::path> removed;
  const auto add = [&removed](const auto& entry) {
    if (is_unfinished_write(entry.path().filename().string())) removed.push_back(entry.path());
  };
  std::error_code error;
  for (fs::directory_iterator entry(path_, error), end; !error && entry != end;
       entry.increment(error))
    add(*entry);
  for (const char* name : {kSubmoduleDiffs, kPartialSubmoduleDiffs}) {
    if (!fs::is_directory(fs::symlink_status(path_ / name, error))) continue;
    for (fs::recursive_directory_iterator entry(path_ / name, error), end; !error && entry != end;
         entry.increment(error))
      add(*entry);
  }
  for (const fs::path& path : removed) remove_tree(path);
}

void OutputFolder::remove_end() const {
  for (const char* name : {"changes.diff", "partial.diff", "last-message.txt", "last-message.json",
                           "summary.md", "report.html", "attestation.json"})
    remove(name);
  for (const char* name : {"kept", kSubmoduleDiffs, kPartialSubmoduleDiffs})
    remove_tree(path_ / name);
}

/// @throws Error  usage: it holds files that no run wrote
FoundOutput OutputFolder::look() const {
  FoundOutput there = inspect_output(path_);
  // Of a run that begins here at this moment, a file may have been seen before what says whose it is.
  for (int again = 0; again < kMoreLooks && !there.foreign.empty(); ++again)
    there = inspect_output(path_);
  if (!there.foreign.empty() && wait_for_attempts(path_, there.foreign))
    there = inspect_output(path_);
  if (!there.foreign.empty())
    throw Error("--out " + path_.string() + ": " + foreign_text(there.foreign) +
                    "; name an empty or new folder",
                ExitCode::usage);
  return there;
}

void OutputFolder::lock(std::chrono::milliseconds patience) {
  const fs::path file = path_ / kLock;
  lock_ = Fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644));
  if (!lock_) throw path_error("--out " + file.string(), errno);
  bool locked = ::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0;
  char text[32] = {};
  const ssize_t length = locked ? 0 : ::pread(lock_.get(), text, sizeof text - 1, 0);
  if (!locked && length > 0 && patience.count() > 0 &&
      wait_for_process_end(std::atoi(text), patience))
    locked = ::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0;
  if (!locked) {
    const std::string holder = length > 0 ? "process " + std::string(text) : "another process";
    throw Error(path_.string() + ": " + holder + " is using this folder", ExitCode::busy);
  }
  const std::string pid = std::to_string(::getpid());
  if (::ftruncate(lock_.get(), 0) != 0 || !write_all(lock_.get(), pid))
    throw path_error("--out " + file.string(), errno);
}

void OutputFolder::set_aside(bool keep) {
  // Read again: an end that only the transcript had may stand in it by now.
  if (look().status != "success" || undo_has_begun(path_ / "state")) undo_earlier();
  const fs::path previous = path_.string() + ".prev";
  std::error_code error;
  if (keep) {
    check_previous(previous);
    check_moves(path_, previous);
  }
  remove_state();
  if (!keep) return remove_run(path_);
  make_previous(previous, path_);
  // While its transcript is there, it is judged by that.
  for (const fs::path& path : in_order_of_end(path_, {kResultName, kTranscriptName})) {
    const fs::path name = path.filename();
    if (!is_unfinished_write(name.string()) && path != checkpoint_to_restore(path_)) {
      fs::rename(path, previous / name, error);
      if (error)
        throw path_error("can't move the earlier run to " + previous.string(), error.value());
    } else {
      remove_at_once(path);
    }
  }
  keep_out_of_git(previous);
}

/// An earlier run that was killed, or could not undo everything, may have left the user's own tree
/// changed (isolation none).
void OutputFolder::undo_earlier() {
  const fs::path state = path_ / "state";
  // Somebody else's, or a copy, says nothing of a tree that is here.
  if (!has_own_tree(state) || !RunMark(state).is_own()) return;
  const UndoneTree undone = undo_own_tree(state);
  if (undone.failed.empty()) {
    undone_ = text_of(undone);
    return;
  }
  throw Error("the earlier run in --out " + path_.string() + " worked in " +
                  path_text(undone.root) + " and was not undone wholly: " + text_of(undone) +
                  "; what is needed for it is kept in " + state.string() +
                  ": run this again once the cause is mended, or name another --out",
              ExitCode::environment);
}

/// Takes the checkpoint out of the state. It stays until another one was made of the restored tree.
void OutputFolder::keep_checkpoint() {
  const fs::path kept = checkpoint_to_restore(path_);
  std::error_code error;
  if (fs::exists(fs::symlink_status(kept, error))) return;
  fs::rename(checkpoint_file(path_), kept, error);
  if (error) throw path_error(kept.string(), error.value());
}

fs::path OutputFolder::make_state(const fs::path& workspace) {
  const fs::path state = path_ / "state";
  std::error_code error;
  if (!path_below(path_, workspace)) {
    fs::create_directories(state, error);
    if (error) throw path_error(state.string(), error.value());
    return state;
  }
  if (const fs::path there = fs::read_symlink(state, error);
      !error && is_temporary_folder(there, "sortie-state"))
    return there;
  const fs::path folder = make_temporary_folder("sortie-state");
  if (path_below(folder, workspace)) {
    fs::remove(folder, error);
    throw Error(
        "--out lies inside the workspace, and $TMPDIR is not a folder outside of it: name "
        "an --out elsewhere",
        ExitCode::environment);
  }
  fs::create_directory_symlink(folder, state, error);
  if (error) throw path_error(state.string(), error.value());
  return folder;
}

void OutputFolder::remove_state() noexcept {
  remove_state_below(path_);
  for (int number = 1; number <= kMostAttempts; ++number) {
    std::error_code error;
    const fs::path attempt = path_ / attempt_folder(number);
    if (fs::is_directory(fs::symlink_status(attempt, error))) remove_state_below(attempt);
  }
}

void OutputFolder::remove_state_below(const fs::path& folder) noexcept {
  std::error_code error;
  const fs::path state = folder / "state";
  fs::remove(folder / "changes.tar", error);
  // A state of which only a part is left must not pass for a run's that can go on.
  RunMark::remove(state);
  if (fs::is_symlink(state, error)) {
    const fs::path target = fs::read_symlink(state, error);
    // Only a folder of make_state(): somebody else could have made the link.
    if (!error && is_temporary_folder(target, "sortie-state")) remove_tree(target);
    fs::remove(state, error);
    return;
  }
  remove_tree(state);
}

std::string OutputFolder::write(const std::string& name, std::string_view content,
                                Synced synced) const {
  if (name.find('/') != name.npos) {
    std::error_code error;
    fs::create_directories((path_ / name).parent_path(), error);
    if (error) throw path_error((path_ / name).string(), error.value());
    synced = Synced::name;  // sync() is of this folder alone
  }
  const fs::path path = path_ / name;
  if (synced == Synced::name) sync_contents();
  const bool later = synced == Synced::content;
  write_file(path, content, new_file_mode(), later ? Synced::nothing : synced);
  if (later) {
    Fd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    // Some masks leave new files unreadable.
    if (!file) write_file(path, content, new_file_mode(), Synced::content);
    if (file) unsynced_.push_back(std::move(file));
  }
  return "sha256:" + sha256_hex(content);
}

void OutputFolder::remove_diffs() const {
  remove(kChangesDiff);
  remove_tree(path_ / kSubmoduleDiffs);
}

void OutputFolder::sync_contents() const {
  if (const int error = sync_together(unsynced_)) throw path_error(path_.string(), error);
  unsynced_.clear();
}

void OutputFolder::sync() const {
  Fd folder(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) throw path_error(path_.string(), errno);
  unsynced_.push_back(std::move(folder));
  sync_contents();
}

void OutputFolder::remove(const std::string& name) const {
  std::error_code error;
  fs::remove(path_ / name, error);
}

}  // namespace sortie
