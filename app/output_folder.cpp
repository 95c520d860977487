#include "app/output_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <vector>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/base/temporary.h"
#include "core/workspace/tree.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLock = ".lock";

bool is_inside(const fs::path& path, const fs::path& folder) {
  const fs::path relative = path.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

std::string status_of(const fs::path& folder) {
  std::error_code error;
  // A pipe would be waited for without end.
  if (!fs::is_regular_file(folder / "result.json", error)) return {};
  try {
    return parse_json(read_file(folder / "result.json", 64u << 20)).string_at("status");
  } catch (const std::exception&) {
    return {};  // a torn or missing file is no finished run
  }
}

/// Whether the folder holds nothing that a person could miss: only what runs make.
bool holds_only_a_run(const fs::path& folder) {
  static const std::vector<std::string> kNames = {
      kLock,          "result.json",  "transcript.jsonl", "blobs",
      "changes.diff", "partial.diff", "last-message.txt", "last-message.json",
      "state",        "summary.md",   "report.html"};
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    bool known = false;
    for (const auto& one : kNames) known = known || name == one || name.starts_with(one + ".");
    if (!known) return false;
  }
  return true;
}

}  // namespace

OutputFolder::OutputFolder(const fs::path& path, FoundRun found) {
  std::error_code error;
  // A repository can bring a link of that name, to anywhere.
  const fs::path named = path.has_filename() ? path : path.parent_path();
  if (fs::is_symlink(named, error))
    throw Error("--out " + path.string() + ": is a link; name the folder itself", ExitCode::usage);
  fs::create_directories(path, error);
  if (error) throw Error("--out " + path.string() + ": " + error.message(), ExitCode::usage);
  path_ = fs::canonical(path, error);
  if (error || !fs::is_directory(path_))
    throw Error("--out " + path.string() + ": is not a folder", ExitCode::usage);
  lock();
  set_aside(found);
}

void OutputFolder::lock() {
  const fs::path file = path_ / kLock;
  lock_ = Fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!lock_) throw system_error("--out " + file.string(), ExitCode::usage);
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    char text[32] = {};
    const ssize_t length = ::pread(lock_.get(), text, sizeof text - 1, 0);
    const std::string holder = length > 0 ? "process " + std::string(text) : "another process";
    throw Error(path_.string() + ": " + holder + " is at work on this folder", ExitCode::busy);
  }
  const std::string pid = std::to_string(::getpid());
  if (::ftruncate(lock_.get(), 0) != 0 || !write_all(lock_.get(), pid))
    throw system_error("--out " + file.string(), ExitCode::usage);
}

void OutputFolder::set_aside(FoundRun found) {
  if (!holds_only_a_run(path_))
    throw Error(
        "--out " + path_.string() + ": holds files that are no run's; name an empty or new folder",
        ExitCode::usage);
  const bool has_run = fs::exists(path_ / "result.json") || fs::exists(path_ / "transcript.jsonl");
  if (!has_run && found == FoundRun::refuse_unfinished) {
    remove_state();  // what a run left that ended before it began
    // No run lays links: outputs would be written where somebody else wants them.
    for (const auto& entry : fs::directory_iterator(path_))
      if (entry.is_symlink()) remove_tree(entry.path());
    return;
  }
  const std::string status = status_of(path_);
  const bool finished = !status.empty() && status != "running";
  if (!finished && found == FoundRun::refuse_unfinished)
    throw Error("--out " + path_.string() +
                    ": holds an unfinished run, and going on with one is not supported yet; "
                    "--fresh discards it",
                ExitCode::usage);
  remove_state();
  const fs::path previous = path_.string() + ".prev";
  const bool keep = finished && found == FoundRun::refuse_unfinished;
  std::error_code error;
  if (keep) {
    if (fs::is_directory(previous) && !holds_only_a_run(previous))
      throw Error(previous.string() +
                      ": holds files that are no run's, and the finished run in --out would be "
                      "moved there; --fresh discards it instead",
                  ExitCode::usage);
    remove_tree(previous);
    fs::create_directories(previous, error);
  }
  for (const auto& entry : fs::directory_iterator(path_)) {
    const fs::path name = entry.path().filename();
    if (name == kLock) continue;
    if (keep) {
      fs::rename(entry.path(), previous / name, error);
      if (error)
        throw Error("can't move the finished run to " + previous.string() + ": " + error.message(),
                    ExitCode::usage);
    } else {
      remove_tree(entry.path());
    }
  }
}

fs::path OutputFolder::make_state(const fs::path& workspace) {
  const fs::path state = path_ / "state";
  std::error_code error;
  if (!is_inside(path_, workspace)) {
    fs::create_directories(state, error);
    if (error) throw Error(state.string() + ": " + error.message(), ExitCode::usage);
    return state;
  }
  const fs::path folder = make_temporary_folder("sortie-state");
  if (is_inside(folder, workspace)) {
    fs::remove(folder, error);
    throw Error(
        "--out lies inside the workspace, and $TMPDIR is no folder outside of it: name an "
        "--out elsewhere",
        ExitCode::environment);
  }
  fs::create_directory_symlink(folder, state, error);
  if (error) throw Error(state.string() + ": " + error.message(), ExitCode::usage);
  return folder;
}

void OutputFolder::remove_state() noexcept {
  std::error_code error;
  const fs::path state = path_ / "state";
  if (fs::is_symlink(state, error)) {
    const fs::path target = fs::read_symlink(state, error);
    // Only ever what make_state made: the link could have been laid by somebody else.
    if (!error && is_temporary_folder(target, "sortie-state")) remove_tree(target);
    fs::remove(state, error);
    return;
  }
  remove_tree(state);
}

void OutputFolder::write(const std::string& name, std::string_view content) const {
  write_file(path_ / name, content);
}

void OutputFolder::remove(const std::string& name) const {
  std::error_code error;
  fs::remove(path_ / name, error);
}

}  // namespace sortie
