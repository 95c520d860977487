// A disk that keeps only what was synced, for a program that is started with this library preloaded.
//
// Below the folder SORTIE_POWER_FOLDER each fsync(2) of a file copies its content to
// SORTIE_POWER_PLATTER, and each of a folder its list of names: what a power loss would leave.
// Before step number SORTIE_POWER_CUT the program is killed; with 0 never. The number of steps is in
// SORTIE_POWER_PLATTER/steps.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

namespace {

template <class Function>
Function next_one(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The program empties its environment, and a part of it runs in a child process.
const std::string& folder() {
  static const std::string value = variable("SORTIE_POWER_FOLDER");
  return value;
}
const std::string& platter() {
  static const std::string value = variable("SORTIE_POWER_PLATTER");
  return value;
}
const long& cut() {
  static const long value = std::atol(variable("SORTIE_POWER_CUT").c_str());
  return value;
}
const pid_t kOwner = (folder(), platter(), cut(), ::getpid());

std::atomic<long> steps{0};
std::mutex guard;

bool is_below(const std::string& path) {
  return !folder().empty() && (path == folder() || path.rfind(folder() + "/", 0) == 0);
}

std::string path_of(int file) {
  char path[PATH_MAX];
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  const ssize_t length = ::readlink(link.c_str(), path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "";
}

bool is_watched(int file) { return ::getpid() == kOwner && is_below(path_of(file)); }
bool is_watched(const char* path) { return ::getpid() == kOwner && is_below(path); }

void step() {
  if (++steps == cut()) ::kill(::getpid(), SIGKILL);
}

/// A file's number and birth, since numbers are used again.
std::string key_of(const struct statx& status) {
  return std::to_string(status.stx_ino) + "-" + std::to_string(status.stx_btime.tv_sec) + "." +
         std::to_string(status.stx_btime.tv_nsec);
}

std::string key_at(int folder, const char* name, int flags) {
  struct statx status {};
  if (::statx(folder, name, flags, STATX_BASIC_STATS | STATX_BTIME, &status) != 0) return "";
  return key_of(status);
}

void keep(const std::string& name, const std::string& content) {
  static const auto write_bytes = next_one<ssize_t (*)(int, const void*, size_t)>("write");
  static const auto rename_file = next_one<int (*)(const char*, const char*)>("rename");
  const std::string path = platter() + "/" + name;
  const int file = ::open((path + ".new").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  for (std::size_t done = 0; done < content.size();) {
    const ssize_t written = write_bytes(file, content.data() + done, content.size() - done);
    if (written <= 0) break;
    done += static_cast<std::size_t>(written);
  }
  ::close(file);
  rename_file((path + ".new").c_str(), path.c_str());
}

void keep_file(int file) {
  std::string content;
  char piece[65536];
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  const int reading = ::open(link.c_str(), O_RDONLY | O_CLOEXEC);
  for (ssize_t got = 0; (got = ::read(reading, piece, sizeof piece)) > 0;)
    content.append(piece, static_cast<std::size_t>(got));
  ::close(reading);
  keep("file-" + key_at(file, "", AT_EMPTY_PATH), content);
}

/// Lines "d KEY NAME", "f KEY NAME", "l TARGET NAME", each ended by a zero byte.
void keep_folder(int file) {
  std::string list;
  const int listing = ::openat(file, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const entries = ::fdopendir(listing);
  while (const dirent* const entry = entries ? ::readdir(entries) : nullptr) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    char target[PATH_MAX];
    const ssize_t length = ::readlinkat(file, name.c_str(), target, sizeof target);
    if (length >= 0) {
      list += "l " + std::string(target, static_cast<std::size_t>(length)) + " " + name + '\0';
      continue;
    }
    struct stat status {};
    ::fstatat(file, name.c_str(), &status, AT_SYMLINK_NOFOLLOW);
    list += (S_ISDIR(status.st_mode) ? "d " : "f ") +
            key_at(file, name.c_str(), AT_SYMLINK_NOFOLLOW) + " " + name + '\0';
  }
  if (entries) ::closedir(entries);
  keep("folder-" + key_at(file, "", AT_EMPTY_PATH), list);
}

void keep_synced(int file) {
  const std::lock_guard lock(guard);
  struct stat status {};
  if (::fstat(file, &status) != 0) return;
  if (S_ISDIR(status.st_mode))
    keep_folder(file);
  else
    keep_file(file);
  keep("steps", std::to_string(steps));
}

template <class Sync>
int sync_file(Sync real, int file) {
  if (!is_watched(file)) return real(file);
  step();
  const int result = real(file);
  const int error = errno;
  if (result == 0) keep_synced(file);
  errno = error;
  return result;
}

}  // namespace

extern "C" {

ssize_t write(int file, const void* bytes, size_t size) {
  static const auto real = next_one<ssize_t (*)(int, const void*, size_t)>("write");
  if (is_watched(file)) step();
  return real(file, bytes, size);
}
ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t at) {
  static const auto real = next_one<ssize_t (*)(int, const void*, size_t, off64_t)>("pwrite64");
  if (is_watched(file)) step();
  return real(file, bytes, size, at);
}
int fsync(int file) {
  static const auto real = next_one<int (*)(int)>("fsync");
  return sync_file(real, file);
}
int fdatasync(int file) {
  static const auto real = next_one<int (*)(int)>("fdatasync");
  return sync_file(real, file);
}
int rename(const char* from, const char* to) noexcept {
  static const auto real = next_one<int (*)(const char*, const char*)>("rename");
  if (is_watched(to)) step();
  return real(from, to);
}
int unlink(const char* path) noexcept {
  static const auto real = next_one<int (*)(const char*)>("unlink");
  if (is_watched(path)) step();
  return real(path);
}
}
