#include "app/batch/batch_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "core/base/error.h"
#include "core/files/files.h"
#include "core/files/new_file_mode.h"
#include "core/text/text.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLock = ".lock";

/// Whether a batch may have written a file of this name.
bool is_own(const std::string& name) {
  for (const char* begin :
       {".lock", "batch", "results", "summary", "report", "checkouts", ".sortie-"})
    if (name.starts_with(begin)) return true;
  return is_one_of(name, {"runs", "logs", "state", ".gitignore"});
}

void check_content(const fs::path& folder) {
  std::string foreign;
  bool known = false;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    known = known || name.starts_with(kLock);
    if (!is_own(name) && foreign.empty()) foreign = name;
  }
  if (!known && !foreign.empty())
    throw Error("--out " + folder.string() + ": holds '" + one_line(foreign, 100) +
                    "', which no batch wrote; name an empty or new folder",
                ExitCode::usage);
}

}  // namespace

BatchFolder::BatchFolder(const fs::path& path, const Shard& shard) : suffix_(shard.suffix()) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw path_error("--out " + path.string(), error.value());
  path_ = fs::canonical(path, error);
  if (error || !fs::is_directory(path_))
    throw Error("--out " + path.string() + ": not a folder", ExitCode::usage);
  check_content(path_);
  lock(shard);
  for (const char* name : {"runs", "logs", "state"}) {
    fs::create_directories(path_ / name, error);
    if (error) throw path_error("--out " + (path_ / name).string(), error.value());
  }
  // Keeps `git add --all` from adding transcripts.
  if (!fs::exists(path_ / ".gitignore", error))
    write_file(path_ / ".gitignore", "*\n", new_file_mode(), Synced::nothing);
}

std::string BatchFolder::with_shard(const std::string& stem, const std::string& ending) const {
  return stem + (suffix_.empty() ? "" : "-" + suffix_) + ending;
}

/// A whole batch is alone; shards share the folder, and each of them is alone as itself.
void BatchFolder::lock(const Shard& shard) {
  whole_ = lock_file(kLock, !shard.given);
  if (shard.given) own_ = lock_file(std::string(kLock) + "-" + suffix_, true);
}

Fd BatchFolder::lock_file(const std::string& name, bool alone) const {
  const fs::path file = path_ / name;
  Fd lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644));
  if (!lock) throw path_error("--out " + file.string(), errno);
  if (::flock(lock.get(), (alone ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0) {
    char text[32] = {};
    const ssize_t length = ::pread(lock.get(), text, sizeof text - 1, 0);
    const std::string holder = length > 0 ? "process " + std::string(text) : "a shard of it";
    throw Error(
        path_.string() + ": this batch is at work already: " + holder + " is using this folder",
        ExitCode::busy);
  }
  if (::ftruncate(lock.get(), 0) != 0 ||
      (alone && !write_all(lock.get(), std::to_string(::getpid()))))
    throw path_error("--out " + file.string(), errno);
  return lock;
}

}  // namespace sortie
