#include "core/base/process.h"

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

/// How long a command that was told to end may take to be gone before that is an error: the
/// keeper kills with SIGKILL, so only a machine in trouble gets there.
constexpr std::chrono::seconds kEndWithin{20};

enum class Read { more, nothing_now, closed };

/// Hands on what there is to read, up to the limit; `total` counts.
Read drain(const Fd& output, std::uint64_t limit, std::uint64_t& total, const OutputSink& sink) {
  std::array<char, 64 * 1024> buffer;
  const ssize_t count = ::read(output.get(), buffer.data(), buffer.size());
  if (count < 0) return errno == EAGAIN || errno == EINTR ? Read::nothing_now : Read::closed;
  if (count == 0) return Read::closed;
  const std::uint64_t room = limit > total ? limit - total : 0;
  const auto shown = static_cast<std::size_t>(std::min<std::uint64_t>(room, count));
  if (shown > 0) sink(std::string_view(buffer.data(), shown));
  total += static_cast<std::uint64_t>(count);
  return Read::more;
}

}  // namespace

ExitStatus run_command(Launcher& launcher, const Command& command, const OutputSink& output,
                       std::stop_token stop) {
  const Fd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) throw system_error("eventfd");
  const std::stop_callback on_stop(stop, [&wake] { ::eventfd_write(wake.get(), 1); });

  const auto running = launcher.start(command);
  const auto started = steady_clock::now();
  auto deadline = started + std::min(command.timeout, launcher.time_left());
  std::uint64_t total = 0;
  bool ending = false;
  bool output_open = true;

  const auto end = [&](Ending why) {
    if (ending) return;
    ending = true;
    running->end(why);
    deadline = steady_clock::now() + kEndWithin;
  };

  for (;;) {
    if (const auto status = running->status()) {
      // All processes are dead, so what the pipe still holds is the last of it.
      while (output_open &&
             drain(running->output(), command.max_output_bytes, total, output) == Read::more) {
      }
      ExitStatus result = *status;
      if (result.ending == Ending::exited && total > command.max_output_bytes)
        result.ending = Ending::output_limit;
      return result;
    }
    const auto now = steady_clock::now();
    if (now >= deadline) {
      if (ending) throw Error("a command could not be ended within 20 s of being killed");
      end(Ending::timed_out);
      continue;
    }
    pollfd wait[3] = {{running->ended_descriptor(), POLLIN, 0},
                      {ending ? -1 : wake.get(), POLLIN, 0},
                      {output_open ? running->output().get() : -1, POLLIN, 0}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - now).count();
    if (::poll(wait, 3, static_cast<int>(std::min<std::int64_t>(left, 60'000))) < 0 &&
        errno != EINTR)
      throw system_error("poll");
    if (stop.stop_requested()) end(Ending::cancelled);
    if (wait[2].revents != 0) {
      if (drain(running->output(), command.max_output_bytes, total, output) == Read::closed)
        output_open = false;
      if (total > command.max_output_bytes) end(Ending::output_limit);
    }
  }
}

}  // namespace sortie
