#include "app/exec/thread_limits.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/text/text.h"
#include "core/workspace/tree.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// A thread that is being removed: no turn finds it any more.
constexpr std::string_view kRemoved = ".removed-";
/// So that no turn waits for long until its caller's process ends.
constexpr std::size_t kMostRemovedAtOnce = 50;
constexpr std::size_t kMostNumber = 1'000'000;
constexpr std::size_t kMostDays = 36'500;

struct OldThread {
  fs::path folder;
  time_t last_turn = 0;  ///< each turn begins with names in the folder
};

std::optional<std::size_t> number_in(std::string_view text, std::size_t most) {
  std::size_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  if (number < 1 || number > most) return std::nullopt;
  return number;
}

/// The oldest first. Leftovers of a removal that was cut off are gone afterwards.
std::vector<OldThread> threads_in(const fs::path& threads) {
  std::vector<OldThread> found;
  std::error_code error;
  for (fs::directory_iterator it(threads, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    struct stat status {};
    if (::lstat(it->path().c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) continue;
    if (name.starts_with(kRemoved) && is_thread_id(name.substr(kRemoved.size())))
      remove_tree(it->path());
    else if (is_thread_id(name))
      found.push_back({it->path(), status.st_mtim.tv_sec});
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.last_turn < b.last_turn; });
  return found;
}

/// Whether there is nothing in it but runs and what belongs to them.
bool is_of_exec(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (name.ends_with(kPlaceSuffix)) name.resize(name.size() - std::string(kPlaceSuffix).size());
    if (!is_thread_id(name) && !is_temporary_name(name)) return false;
  }
  return !error;
}

/// @return  whether it is gone
bool remove_unless_used(const fs::path& folder) {
  try {
    const Fd lock = lock_thread(folder, 0ms);
    if (!lock || !is_of_exec(folder)) return false;
    const fs::path removed =
        folder.parent_path() / (std::string(kRemoved) + folder.filename().string());
    std::error_code error;
    fs::rename(folder, removed, error);
    if (error) return false;
    remove_tree(removed);
    return true;
  } catch (const std::exception&) {  // in use, or not ours to remove
    return false;
  }
}

bool is_same_folder(int open, const fs::path& path) {
  struct stat one {};
  struct stat other {};
  return ::fstat(open, &one) == 0 && ::lstat(path.c_str(), &other) == 0 &&
         one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

}  // namespace

bool is_thread_id(std::string_view text) {
  constexpr std::size_t kLength = 36;
  return text.size() == kLength && std::all_of(text.begin(), text.end(), [](char c) {
           return is_ascii_digit(c) || (c >= 'a' && c <= 'f') || c == '-';
         });
}

ThreadLimits read_thread_limits(std::string_view text) {
  const std::string_view given = trimmed(text);
  if (given.empty()) return {};
  ThreadLimits limits{.number = std::nullopt, .age = std::nullopt};
  if (given == "all") return limits;
  for (std::size_t at = 0; at <= given.size();) {
    const std::size_t comma = std::min(given.find(',', at), given.size());
    std::string_view part = trimmed(given.substr(at, comma - at));
    at = comma + 1;
    const bool days = part.ends_with('d');
    if (days) part.remove_suffix(1);
    const auto number = number_in(part, days ? kMostDays : kMostNumber);
    if (!number || (days ? limits.age.has_value() : limits.number.has_value()))
      throw InputError("SORTIE_KEEP_THREADS: expected days and a number of threads, such as " +
                       in_quotes("30d,1000") + ", one of them, or 'all'; got " + in_quotes(given));
    if (days)
      limits.age = std::chrono::hours(24 * *number);
    else
      limits.number = *number;
  }
  return limits;
}

Fd lock_thread(const fs::path& folder, std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    Fd lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!lock) return {};
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) {
      if (is_same_folder(lock.get(), folder)) return lock;
      continue;  // it was removed meanwhile
    }
    if (errno != EWOULDBLOCK) return {};
    if (std::chrono::steady_clock::now() >= until)
      throw Error("thread " + folder.filename().string() +
                      ": another turn is at work on it; another thread need not wait",
                  ExitCode::busy);
    std::this_thread::sleep_for(20ms);
  }
}

void remove_old_threads(const fs::path& threads, const ThreadLimits& limits) noexcept {
  try {
    const std::vector<OldThread> found = threads_in(threads);
    const time_t now = ::time(nullptr);
    std::size_t kept = found.size();
    std::size_t removed = 0;
    for (const OldThread& thread : found) {
      const bool many = limits.number && kept > *limits.number;
      const bool old =
          limits.age && now - thread.last_turn > std::chrono::seconds(*limits.age).count();
      if ((!many && !old) || removed == kMostRemovedAtOnce) return;
      if (!remove_unless_used(thread.folder)) continue;
      --kept;
      ++removed;
    }
  } catch (const std::exception&) {  // what can't be removed stays; the next turn tries again
  }
}

}  // namespace sortie
