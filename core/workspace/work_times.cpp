#include "core/workspace/work_times.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <sstream>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/workspace/file_stamp.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

using namespace std::chrono_literals;

constexpr const char* kTimes = "times";
constexpr const char* kAlive = "alive";
constexpr auto kSignOfLife = 50ms;

Fd open_times(const fs::path& file, int flags) {
  Fd open(::open(file.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | flags, 0600));
  if (!open) throw system_error(path_text(file), ExitCode::environment);
  return open;
}

}  // namespace

WorkTimes::WorkTimes(const fs::path& folder)
    : file_(open_times(folder / kTimes, O_APPEND)), alive_(open_times(folder / kAlive, 0)) {
  open_times(folder / kEndOfWork, 0);
}

WorkTimes::~WorkTimes() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  changed_.notify_all();
}

std::int64_t WorkTimes::sign_of_life() noexcept {
  struct stat status {};
  ::futimens(alive_.get(), nullptr);
  return ::fstat(alive_.get(), &status) == 0 ? stamp_of(status).ctime : 0;
}

void WorkTimes::write(char what) {
  const std::string line = what + (" " + std::to_string(sign_of_life())) + "\n";
  if (!write_all(file_.get(), line)) throw system_error("work times", ExitCode::environment);
}

void WorkTimes::begin() {
  const std::lock_guard lock(mutex_);
  if (working_ == 0) write('b');
  ++working_;
  if (!thread_.joinable())
    thread_ = std::jthread([this](const std::stop_token& stop) { live(stop); });
  changed_.notify_all();
}

void WorkTimes::end() noexcept {
  const std::lock_guard lock(mutex_);
  if (--working_ > 0) return;
  try {
    write('e');
  } catch (const Error&) {  // the sign of life ends it
  }
}

void WorkTimes::live(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (working_ > 0) sign_of_life();
    if (working_ > 0)
      changed_.wait_for(lock, stop, kSignOfLife, [] { return false; });
    else
      changed_.wait(lock, stop, [this] { return working_ > 0; });
  }
}

namespace {

/// The ctime of a file; 0 without one.
std::int64_t time_at(const fs::path& file) {
  struct stat status {};
  return ::stat(file.c_str(), &status) == 0 ? stamp_of(status).ctime : 0;
}

/// When the work of a process ended that did not say so.
std::int64_t end_of_dead(const fs::path& folder, std::int64_t begin,
                         std::chrono::nanoseconds tail) {
  const std::int64_t alive = std::max(begin, time_at(folder / kAlive));
  const std::int64_t ended = time_at(folder / kEndOfWork);
  return ended >= alive ? ended : alive + tail.count();
}

struct RecordedTimes {
  std::vector<WorkTime> times;
  std::int64_t open = 0;  ///< the beginning of one without an end; 0: none
};

RecordedTimes recorded_times(const fs::path& folder) {
  RecordedTimes recorded;
  struct stat status {};
  if (::stat((folder / kTimes).c_str(), &status) != 0 || status.st_size == 0) return recorded;
  std::istringstream in(read_file(folder / kTimes));
  int depth = 0;
  std::int64_t stamp = 0;
  for (char what = 0; in >> what >> stamp;) {
    if (what == 'b' && depth++ == 0) recorded.open = stamp;
    if (what == 'e' && --depth > 0) continue;
    if ((what == 'e' || what == 'x') && recorded.open != 0)
      recorded.times.push_back({std::exchange(recorded.open, 0), stamp});
    if (what != 'b') depth = 0;
  }
  return recorded;
}

}  // namespace

void end_dead_times(const fs::path& folder, std::chrono::milliseconds tail) {
  const RecordedTimes recorded = recorded_times(folder);
  if (recorded.open == 0) return;
  const std::string line = "x " + std::to_string(end_of_dead(folder, recorded.open, tail)) + "\n";
  const Fd file = open_times(folder / kTimes, O_APPEND);
  if (!write_all(file.get(), line)) throw system_error("work times", ExitCode::environment);
}

std::vector<WorkTime> read_work_times(const fs::path& folder, std::chrono::milliseconds tail) {
  RecordedTimes recorded = recorded_times(folder);
  if (recorded.open != 0)
    recorded.times.push_back({recorded.open, end_of_dead(folder, recorded.open, tail)});
  return std::move(recorded.times);
}

bool is_within(const std::vector<WorkTime>& times, std::int64_t stamp) {
  return std::any_of(times.begin(), times.end(), [stamp](const WorkTime& time) {
    return time.begin <= stamp && stamp <= time.end;
  });
}

}  // namespace sortie
