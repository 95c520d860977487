#include "app/show/event_writer.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/base/unnamed_file.h"

namespace sortie {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kPatienceOnceStopped{1000};
constexpr std::size_t kReadBytes = 256u << 10;

/// Opens the pipe or terminal behind a descriptor once more. O_NONBLOCK belongs to the open file,
/// which others (the shell, the other end of `2>&1`) share: it must not be set on theirs.
Fd open_again(int descriptor) {
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  return Fd(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

/// "10 min", "30 s", "200 ms".
std::string in_words(milliseconds time) {
  if (time.count() >= 60'000 && time.count() % 60'000 == 0)
    return std::to_string(time.count() / 60'000) + " min";
  if (time.count() % 1000 == 0) return std::to_string(time.count() / 1000) + " s";
  return std::to_string(time.count()) + " ms";
}

}  // namespace

EventWriter::EventWriter(int descriptor, Options options)
    : descriptor_(descriptor),
      options_(std::move(options)),
      most_at_once_(std::numeric_limits<std::size_t>::max()),
      wake_(make_pipe()),
      last_progress_(steady_clock::now()) {
  struct stat status {};
  ::fstat(descriptor_, &status);
  is_socket_ = S_ISSOCK(status.st_mode);
  // The replacement of a closed stdout is open only for reading: opened again, it would silently
  // accept everything.
  const bool writable = (::fcntl(descriptor_, F_GETFL) & O_ACCMODE) != O_RDONLY;
  if (writable && (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode))) {
    own_ = open_again(descriptor_);
    // A pipe that poll(2) calls writable has room for that much (pipe(7)).
    if (!own_) most_at_once_ = PIPE_BUF;
  }
  thread_ = std::thread([this] { run(); });
}

EventWriter::~EventWriter() {
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
  }
  changed_.notify_all();
  wake_writer();
  thread_.join();
}

void EventWriter::wake_writer() { write_all(wake_.write.get(), "x"); }

void EventWriter::write(std::string line) {
  if (line.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    if (failed_ || cancelled_) return;
    if (waiting_bytes_ == 0) last_progress_ = steady_clock::now();
    waiting_bytes_ += line.size();
    const bool behind_file = file_begin_ < file_end_;
    const bool fits = line_bytes_ + line.size() <= options_.memory_bytes || lines_.empty();
    if (!late_lines_.empty()) {
      late_lines_.push_back(std::move(line));
    } else if (behind_file || !fits) {
      if (!spill(line)) late_lines_.push_back(std::move(line));
    } else {
      line_bytes_ += line.size();
      lines_.push_back(std::move(line));
    }
  }
  changed_.notify_all();
}

/// Puts a line at the end of the file.
bool EventWriter::spill(const std::string& line) {
  if (!file_) {
    if (!options_.folder.empty()) file_ = unnamed_file(options_.folder);
  }
  if (!file_) return false;
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t count = ::pwrite(file_.get(), line.data() + written, line.size() - written,
                                   static_cast<off_t>(file_end_ + written));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    written += static_cast<std::size_t>(count);
  }
  file_end_ += written;
  return true;
}

/// Takes out what to write next, if anything. Called with the lock held.
std::optional<std::string> EventWriter::next() {
  if (lines_.empty() && file_begin_ < file_end_) {
    std::string bytes(std::min<std::uint64_t>(kReadBytes, file_end_ - file_begin_), '\0');
    const ssize_t count =
        ::pread(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(file_begin_));
    if (count <= 0) {
      fail(count < 0 ? errno : EIO);
      return {};
    }
    bytes.resize(static_cast<std::size_t>(count));
    file_begin_ += bytes.size();
    if (file_begin_ == file_end_) {
      file_begin_ = file_end_ = 0;
      if (::ftruncate(file_.get(), 0) != 0) file_.reset();
    }
    return bytes;
  }
  if (lines_.empty()) lines_.swap(late_lines_);
  if (lines_.empty()) return {};
  std::string line = std::move(lines_.front());
  lines_.pop_front();
  line_bytes_ -= std::min(line_bytes_, line.size());
  return line;
}

std::uint64_t EventWriter::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_bytes_;
}

void EventWriter::run() {
  for (;;) {
    std::optional<std::string> bytes;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return cancelled_ || (waiting_bytes_ > 0 && !failed_); });
      if (cancelled_) return;
      bytes = next();
    }
    if (bytes && !put(*bytes)) return;
  }
}

/// False once nothing more can be written.
bool EventWriter::put(std::string_view bytes) {
  while (!bytes.empty()) {
    if (!wait_until_writable()) return false;
    const ssize_t count = write_some(bytes.substr(0, most_at_once_));
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    const std::lock_guard lock(mutex_);
    if (count < 0) {
      fail(errno);
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
    waiting_bytes_ -= static_cast<std::uint64_t>(count);
    last_progress_ = steady_clock::now();
    changed_.notify_all();
  }
  return true;
}

/// False if the object is being destroyed.
bool EventWriter::wait_until_writable() {
  const int to = own_ ? own_.get() : descriptor_;
  for (;;) {
    pollfd ends[2] = {{to, POLLOUT, 0}, {wake_.read.get(), POLLIN, 0}};
    if (::poll(ends, 2, -1) < 0 && errno != EINTR) return true;  // the write says what it is
    if (ends[1].revents != 0) return false;
    if (ends[0].revents != 0) return true;
  }
}

ssize_t EventWriter::write_some(std::string_view bytes) const {
  if (is_socket_)
    return ::send(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  return ::write(own_ ? own_.get() : descriptor_, bytes.data(), bytes.size());
}

/// Called with the lock held.
void EventWriter::fail(int number) {
  failed_ = true;
  lines_.clear();
  late_lines_.clear();
  file_.reset();
  file_begin_ = file_end_ = waiting_bytes_ = line_bytes_ = 0;
  if (options_.on_failure) options_.on_failure(number);
  changed_.notify_all();
}

std::uint64_t EventWriter::finish(milliseconds patience, std::stop_token stop) {
  // Notified under the lock: between the look at the token and the wait no stop gets lost.
  const std::stop_callback wake(stop, [this] {
    { const std::lock_guard lock(mutex_); }
    changed_.notify_all();
  });
  std::unique_lock lock(mutex_);
  last_progress_ = steady_clock::now();
  const auto end = last_progress_ + options_.longest_end;
  std::optional<steady_clock::time_point> stopped;
  while (waiting_bytes_ > 0 && !failed_) {
    if (stop.stop_requested() && !stopped) stopped = steady_clock::now() + kPatienceOnceStopped;
    const auto limit = stopped ? *stopped : std::min(last_progress_ + patience, end);
    if (steady_clock::now() >= limit) break;
    changed_.wait_until(lock, limit);
  }
  why_left_.clear();
  if (waiting_bytes_ == 0) return 0;
  if (stopped)
    why_left_ = "the reader did not take them before the run had to end";
  else if (last_progress_ + patience <= end)
    why_left_ = "the reader has taken nothing for " + in_words(patience);
  else
    why_left_ = "the reader has not taken all of them within " + in_words(options_.longest_end);
  return waiting_bytes_;
}

std::string EventWriter::why_left() const {
  const std::lock_guard lock(mutex_);
  return why_left_;
}

}  // namespace sortie
