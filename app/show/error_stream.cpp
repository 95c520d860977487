#include "app/show/error_stream.h"

#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/fd.h"

namespace sortie {
namespace {

constexpr std::uint64_t kCloseBehind = 4u << 10;

/// Writing to a file never waits for a reader; to anything else it may.
bool has_reader(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && !S_ISREG(status.st_mode);
}

}  // namespace

ErrorStream::ErrorStream(int descriptor) : descriptor_(descriptor) {
  if (!has_reader(descriptor)) return;
  own_ = std::make_unique<EventWriter>(
      descriptor, EventWriter::Options{.memory_bytes = std::numeric_limits<std::size_t>::max()});
}

ErrorStream::~ErrorStream() {
  if (own_) own_->finish(std::chrono::seconds(1), {});
}

void ErrorStream::write(std::string text) {
  if (systems_.any()) text = without_ci_commands(text, systems_);
  put(std::move(text));
}

void ErrorStream::write_commands(std::string commands) {
  if (!commands.empty()) put(std::move(commands));
}

void ErrorStream::put(std::string text) {
  const std::lock_guard lock(mutex_);
  if (writer() == nullptr) {
    write_all(descriptor_, text);
    return;
  }
  if (writer() == own_.get()) {
    // A reader that has missed lines gets the report once it has read a good part of the others.
    const std::uint64_t most = left_out_ > 0 ? kMostWaiting / 2 : kMostWaiting;
    if (own_->waiting() + text.size() > most) {
      left_out_ += static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
      return;
    }
    report_left_out();
  }
  writer()->write(std::move(text));
}

void ErrorStream::report_left_out() {
  const std::uint64_t lines = std::exchange(left_out_, 0);
  if (lines == 0) return;
  own_->write("sortie: " + std::to_string(lines) + (lines == 1 ? " line is" : " lines are") +
              " left out here, since the reader of stderr was too far behind\n");
}

bool ErrorStream::keeps_up() const {
  const std::lock_guard lock(mutex_);
  return writer() == nullptr || writer()->waiting() < kCloseBehind;
}

bool ErrorStream::is_same_as(int descriptor) const {
  struct stat ours {};
  struct stat other {};
  return ::fstat(descriptor_, &ours) == 0 && ::fstat(descriptor, &other) == 0 &&
         ours.st_dev == other.st_dev && ours.st_ino == other.st_ino;
}

void ErrorStream::go_through(EventWriter* writer) {
  const std::lock_guard lock(mutex_);
  shared_ = writer;
}

void ErrorStream::finish(std::string last, std::chrono::milliseconds patience,
                         std::stop_token stop) {
  last = without_ci_commands(last, systems_);
  {
    const std::lock_guard lock(mutex_);
    if (writer() == nullptr) {
      write_all(descriptor_, last);
      return;
    }
    if (own_) report_left_out();
    writer()->write(std::move(last));
  }
  writer()->finish(patience, std::move(stop));
}

}  // namespace sortie
