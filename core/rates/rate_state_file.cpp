#include "core/rates/rate_state_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/model/model.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr int kPlaces = 2;
/// Between two tries to lock the file: changes take some microseconds.
constexpr std::chrono::milliseconds kLockPause{1};
/// A state that was written later than now is one of another clock.
constexpr nanoseconds kClockSkew = 1s;

constexpr off_t start_of(int place) { return static_cast<off_t>(kMostStateBytes) * place; }

InputError refused(const fs::path& path, const std::string& why) {
  return InputError("the state of --rate-limits, " + path_text(path) + ": " + why);
}

std::string read_at(int file, std::size_t size, off_t at) {
  std::string bytes(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count =
        ::pread(file, bytes.data() + done, size - done, at + static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

bool write_at(int file, std::string_view bytes, off_t at) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(file, bytes.data(), bytes.size(), at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
    at += count;
  }
  return true;
}

bool is_empty(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == '\0'; });
}

}  // namespace

/// Has the lock of the file that the path leads to.
class RateStateFile::Lock {
 public:
  explicit Lock(RateStateFile& file) : file_(file) {
    const auto end = file.parts_.clock.steady() + kPatience;
    for (;;) {
      if (::flock(file.file_.get(), LOCK_EX | LOCK_NB) == 0) {
        if (file.is_in_place()) return;
        file.open();  // another process has removed or replaced it
      } else if (errno != EWOULDBLOCK && errno != EINTR) {
        throw system_error("flock " + path_text(file.parts_.path), ExitCode::environment);
      }
      if (file.parts_.stop.stop_requested()) throw Stopped();
      if (file.parts_.clock.steady() >= end)
        throw Error("the state of --rate-limits, " + path_text(file.parts_.path) +
                        ": another process has had its lock for " +
                        std::to_string(kPatience.count()) +
                        " s, and may be stopped (lsof FILE, or /proc/locks, names it)",
                    ExitCode::busy);
      if (!file.parts_.clock.sleep_for(kLockPause, file.parts_.stop)) throw Stopped();
    }
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() { ::flock(file_.file_.get(), LOCK_UN); }

 private:
  RateStateFile& file_;
};

RateStateFile::RateStateFile(Parts parts) : parts_(std::move(parts)) { open(); }

void RateStateFile::open() {
  const fs::path& path = parts_.path;
  constexpr int kHow = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  Fd opened(::open(path.c_str(), kHow | O_CREAT | O_EXCL, 0600));
  const bool made = static_cast<bool>(opened);
  if (!made && errno == EEXIST) opened = Fd(::open(path.c_str(), kHow));
  if (!opened && errno == ELOOP) throw refused(path, "is a link; name the file itself");
  if (!opened && errno == EISDIR) throw refused(path, "is a folder");
  if (!opened) throw path_error("the state of --rate-limits, " + path_text(path), errno);
  check_file(opened.get());
  if (!made) check_content(opened.get());
  // Room for all that will ever be written: a full disk is met now, and not in a run.
  const int failure = ::posix_fallocate(opened.get(), 0, start_of(kPlaces));
  if (failure != 0 && failure != EOPNOTSUPP && failure != EINVAL)
    throw path_error("the state of --rate-limits, " + path_text(path), failure);
  file_ = std::move(opened);
}

/// Refuses a file that others could have planted.
void RateStateFile::check_file(int opened) const {
  struct stat status {};
  if (::fstat(opened, &status) != 0) throw system_error("fstat " + path_text(parts_.path));
  if (!S_ISREG(status.st_mode)) throw refused(parts_.path, "is not a regular file");
  if (status.st_nlink > 1)
    throw refused(parts_.path, "has another name as well (a hard link); remove one of them");
  const bool known = status.st_uid == ::geteuid() || status.st_uid == 0 ||
                     (parts_.owner && status.st_uid == *parts_.owner);
  if (!known)
    throw refused(parts_.path, "belongs to user " + std::to_string(status.st_uid) +
                                   ", neither this one nor the owner of the limits");
}

/// Refuses a file that holds something else: it would be overwritten.
void RateStateFile::check_content(int opened) const {
  for (int place = 0; place < kPlaces; ++place) {
    const std::string begin = read_at(opened, kRateStateMagic.size(), start_of(place));
    if (is_empty(begin) || begin == kRateStateMagic) continue;
    throw refused(parts_.path,
                  "holds something else, which would be overwritten; name another file ('state'), "
                  "or remove it");
  }
}

bool RateStateFile::is_in_place() const {
  struct stat open {};
  struct stat there {};
  return ::fstat(file_.get(), &open) == 0 && ::lstat(parts_.path.c_str(), &there) == 0 &&
         open.st_dev == there.st_dev && open.st_ino == there.st_ino;
}

/// The newest one that is whole.
std::optional<StoredState> RateStateFile::newest() {
  constexpr std::size_t kBegin = 4096;  // most states are no longer
  std::array<std::string, kPlaces> begins;
  for (int place = 0; place < kPlaces; ++place)
    begins[static_cast<std::size_t>(place)] = read_at(file_.get(), kBegin, start_of(place));
  const int first = state_sequence(begins[1]) > state_sequence(begins[0]) ? 1 : 0;
  for (const int place : {first, 1 - first}) {
    std::string& bytes = begins[static_cast<std::size_t>(place)];
    const std::size_t length = state_length(bytes);
    if (length > bytes.size())
      bytes += read_at(file_.get(), length - bytes.size(),
                       start_of(place) + static_cast<off_t>(bytes.size()));
    bytes.resize(std::min(bytes.size(), length));
    place_ = place;
    if (auto state = read_state_bytes(bytes)) return state;
  }
  return std::nullopt;
}

StoredState RateStateFile::read(nanoseconds now, bool& damaged) {
  StoredState anew{.sequence = 0, .written_at = now, .boot = parts_.time.boot(), .state = {}};
  std::optional<StoredState> found = newest();
  if (!found) {
    damaged = !is_empty(read_at(file_.get(), kRateStateMagic.size(), start_of(0)) +
                        read_at(file_.get(), kRateStateMagic.size(), start_of(1)));
    return anew;
  }
  anew.sequence = found->sequence;
  const bool current = found->boot == anew.boot && found->written_at <= now + kClockSkew;
  return current ? *std::move(found) : anew;
}

void RateStateFile::write(StoredState& stored, nanoseconds now) {
  ++stored.sequence;
  stored.written_at = now;
  place_ = (place_ + 1) % kPlaces;
  if (!write_at(file_.get(), state_bytes(stored), start_of(place_)))
    throw path_error("the state of --rate-limits, " + path_text(parts_.path), errno);
}

void RateStateFile::change(const Step& step) {
  bool damaged = false;
  {
    const Lock lock(*this);
    const nanoseconds now = parts_.time.now();
    StoredState stored = read(now, damaged);
    step(stored.state, now);
    write(stored, now);
  }
  if (damaged && parts_.say)
    parts_.say("the state of --rate-limits, " + path_text(parts_.path) +
               ", was damaged: it begins anew");
}

}  // namespace sortie
