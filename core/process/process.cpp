#include "core/process/process.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/base/error.h"

namespace sortie {
namespace {

using std::chrono::steady_clock;

/// How long a killed command may take to end before that is an error: the keeper sends SIGKILL, so
/// only an overloaded machine reaches this limit.
constexpr std::chrono::seconds kEndWithin{20};

/// A running command with its input and output.
class OpenTraffic {
 public:
  OpenTraffic(RunningCommand& running, const CommandTraffic& traffic, std::uint64_t limit)
      : running_(running),
        limit_(limit),
        input_(traffic.input),
        streams_{{{&running.output(), &traffic.output, true},
                  {&running.errors(), &traffic.errors, traffic.errors_count}}} {
    close_written_input();
  }

  /// The descriptors for poll(2).
  std::array<pollfd, 3> awaited() {
    return {{{running_.input().get(), POLLOUT, 0}, streams_[0].awaited(), streams_[1].awaited()}};
  }

  void go_on(const pollfd* polled) {
    if (polled[0].revents != 0 && running_.input()) write();
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      if (polled[i + 1].revents != 0) read(streams_[i]);
    }
  }

  /// Reads the rest of the pipes. An operator's program may leave a process that goes on writing:
  /// no more is read than the limit, or than a pipe can hold.
  void read_the_rest() {
    for (Stream& stream : streams_) {
      for (int reads = 0; stream.open && (stream.counts ? !is_over_limit() : reads < 64); ++reads)
        if (!read(stream)) break;
    }
  }

  bool is_over_limit() const noexcept { return limit_ > 0 && total_ > limit_; }

 private:
  struct Stream {
    const Fd* from;
    const OutputSink* sink;
    bool counts;  ///< towards the limit
    bool open = true;
    pollfd awaited() const { return {open ? from->get() : -1, POLLIN, 0}; }
  };

  /// @return whether there was something
  bool read(Stream& stream) {
    std::array<char, 64 * 1024> buffer;
    const ssize_t count = ::read(stream.from->get(), buffer.data(), buffer.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (count <= 0) return stream.open = false;
    const auto size = static_cast<std::uint64_t>(count);
    const std::uint64_t room =
        limit_ == 0 || !stream.counts ? size : limit_ - std::min(limit_, total_);
    const auto shown = static_cast<std::size_t>(std::min(room, size));
    if (shown > 0 && *stream.sink) (*stream.sink)(std::string_view(buffer.data(), shown));
    if (stream.counts) total_ += size;
    return true;
  }

  void write() {
    const ssize_t count = ::write(running_.input().get(), input_.data(), input_.size());
    if (count >= 0) {
      input_.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EAGAIN && errno != EINTR) {
      input_ = {};  // nobody reads it
    }
    close_written_input();
  }

  /// Closes a pipe after all input is written; a terminal stays open.
  void close_written_input() {
    if (input_.empty()) running_.input().reset();
  }

  RunningCommand& running_;
  std::uint64_t limit_;
  std::uint64_t total_ = 0;
  std::string_view input_;
  std::array<Stream, 2> streams_;
};

}  // namespace

ExitStatus run_command(Launcher& launcher, const Command& command, const CommandTraffic& traffic,
                       std::stop_token stop) {
  const Fd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) throw system_error("eventfd");
  const std::stop_callback on_stop(stop, [&wake] { ::eventfd_write(wake.get(), 1); });

  const auto running = launcher.start(command);
  const auto started = steady_clock::now();
  auto deadline = started + std::min(command.timeout, launcher.time_left());
  OpenTraffic open(*running, traffic, command.max_output_bytes);
  bool ending = false;

  const auto end = [&](Ending why) {
    if (ending) return;
    ending = true;
    running->end(why);
    deadline = steady_clock::now() + kEndWithin;
  };

  // Asked once first, and not again while there is output and no sign of an end: that is a system call.
  for (bool may_be_over = true;;) {
    if (const auto status = may_be_over ? running->status() : std::nullopt) {
      // All processes are dead, so the pipes hold the last of the output.
      open.read_the_rest();
      ExitStatus result = *status;
      if (result.ending == Ending::exited && open.is_over_limit())
        result.ending = Ending::output_limit;
      return result;
    }
    const auto now = steady_clock::now();
    if (now >= deadline) {
      if (ending) throw Error("a command could not be ended within 20 s of being killed");
      end(Ending::timed_out);
      continue;
    }
    const auto awaited = open.awaited();
    pollfd wait[] = {{running->ended_descriptor(), POLLIN, 0},
                     {ending ? -1 : wake.get(), POLLIN, 0},
                     awaited[0],
                     awaited[1],
                     awaited[2]};
    const std::int64_t longest = wait[0].fd < 0 ? 20 : 60'000;
    const auto left = std::min<std::int64_t>(
        std::chrono::ceil<std::chrono::milliseconds>(deadline - now).count(), longest);
    if (::poll(wait, std::size(wait), static_cast<int>(left)) < 0 && errno != EINTR)
      throw system_error("poll");
    const bool has_traffic = std::any_of(std::begin(wait) + 2, std::end(wait),
                                         [](const pollfd& one) { return one.revents != 0; });
    may_be_over = !has_traffic || wait[0].fd < 0 || wait[0].revents != 0;
    if (stop.stop_requested()) end(Ending::cancelled);
    open.go_on(wait + 2);
    if (open.is_over_limit()) end(Ending::output_limit);
  }
}

ExitStatus run_command(Launcher& launcher, const Command& command, const OutputSink& output,
                       std::stop_token stop) {
  return run_command(launcher, command, CommandTraffic{.output = output}, stop);
}

}  // namespace sortie
