#include "tools/commands/exec_session.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "policies/engine/typed_input.h"

namespace sortie {
namespace {

/// What the transcript gets of the output between two calls: less than of a command that is waited
/// for, since many sessions may hold some at once.
constexpr std::size_t kRecorded = 512u << 10;
/// Reads at one go, so that one session that floods does not keep the others waiting.
constexpr int kReadsAtOnce = 16;

constexpr char kInterrupt = '\x03';
constexpr char kEndOfInput = '\x04';

}  // namespace

ExecSession::ExecSession(Started started, const SessionOutputs& outputs)
    : command_(std::move(started.command)),
      asked_(std::move(started.asked)),
      running_(std::move(started.running)),
      deadline_(started_ + started.timeout),
      output_(outputs.redactor, outputs.shown_bytes, outputs.whole, kRecorded) {}

std::chrono::milliseconds ExecSession::age() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - started_);
}

void ExecSession::type(std::string_view characters) {
  if (command_.input == CommandInput::pipe) {
    if (characters.find(kInterrupt) != std::string_view::npos) {
      interrupted_ = true;
      end(Ending::cancelled);
      return;
    }
    if (!characters.empty() && characters.back() == kEndOfInput) {
      characters.remove_suffix(1);
      closes_input_ = true;
    }
  }
  to_write_ += characters;
  line_ += characters;
  line_.erase(0, line_.size() - unfinished_input(line_).size());
  if (line_.size() > kLongestTypedLine) line_.erase(0, line_.size() - kLongestTypedLine);
  if (!ended_) write();
}

void ExecSession::end(Ending why) {
  if (ending_ || ended_) return;
  ending_ = true;
  running_->end(why);
}

void ExecSession::go_on() {
  if (ended_ || failure_) return;
  try {
    for (int i = 0; i < kReadsAtOnce && read(); ++i) {
    }
    if (has_to_write()) write();
    if (command_.max_output_bytes > 0 && total_ > command_.max_output_bytes)
      end(Ending::output_limit);
    if (Clock::now() >= deadline_) end(Ending::timed_out);
    if (auto status = running_->status()) {
      // All processes are dead, so what the pipe still holds is the last of it.
      while (read()) {
      }
      if (status->ending == Ending::exited && command_.max_output_bytes > 0 &&
          total_ > command_.max_output_bytes)
        status->ending = Ending::output_limit;
      if (status->ending == Ending::cancelled && interrupted_)
        status = ExitStatus{.ending = Ending::signalled,
                            .code = SIGKILL,
                            .detail = "ended by control-C",
                            .duration = status->duration};
      ended_ = std::move(status);
      finish();
    }
  } catch (...) {
    failure_ = std::current_exception();
  }
}

/// @return whether there was something
bool ExecSession::read() {
  if (!output_open_) return false;
  std::array<char, 64 * 1024> buffer;
  const ssize_t count = ::read(running_->output().get(), buffer.data(), buffer.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (count <= 0) return output_open_ = false;
  const auto size = static_cast<std::uint64_t>(count);
  const std::uint64_t limit = command_.max_output_bytes;
  const std::uint64_t room = limit == 0 ? size : limit - std::min(limit, total_);
  total_ += size;
  output_.feed(std::string_view(buffer.data(), static_cast<std::size_t>(std::min(room, size))));
  return true;
}

void ExecSession::write() {
  Fd& input = running_->input();
  while (!to_write_.empty() && input) {
    const ssize_t count = ::write(input.get(), to_write_.data(), to_write_.size());
    if (count > 0) {
      to_write_.erase(0, static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      if (errno == EAGAIN) return;
      to_write_.clear();  // nobody reads it any more
    }
  }
  to_write_.clear();
  if (std::exchange(closes_input_, false)) input.reset();
}

void ExecSession::finish() {
  output_.end();
  to_write_.clear();
  running_.reset();
}

}  // namespace sortie
