#include "policies/sandbox/keeper/keeper_service.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "core/base/error.h"
#include "core/process/channel.h"
#include "core/text/output_buffer.h"
#include "policies/sandbox/command/command_start.h"
#include "policies/sandbox/keeper/keeper_messages.h"
#include "policies/sandbox/layers/cgroup.h"
#include "policies/sandbox/layers/process_tree.h"
#include "policies/sandbox/layers/terminal.h"
#include "policies/sandbox/view/view.h"

namespace sortie {
namespace {

ExitStatus status_of(const StartReport& report) {
  ExitStatus status;
  if (WIFSIGNALED(report.wait_status)) {
    status.ending = Ending::signalled;
    status.code = WTERMSIG(report.wait_status);
  } else {
    status.code = WEXITSTATUS(report.wait_status);
  }
  status.ended_background = report.left_behind > 0;
  return status;
}

/// The limit that a signal reports: the kernel sends one for a file or CPU time past its limit, and
/// a shell's exit code shows that a command in it got the signal. "" if there was none.
std::string limit_reached(const ExitStatus& status, const PolicyLimits& limits) {
  const int signal = status.ending == Ending::exited ? status.code - 128 : status.code;
  if (signal == SIGXFSZ)
    return "file size limit " + size_in_words(limits.file_size) + " reached (limits.file_size)";
  if (signal == SIGXCPU) return "CPU time limit reached (limits.command_timeout on every CPU)";
  return "";
}

/// A failed start: an error of the command itself, worded for the model, or a failed layer.
CommandEnd failed_start(const StartReport& report, const std::string& name) {
  CommandEnd end;
  end.status.ending = Ending::not_started;
  const std::string cause = errno_text(report.error);
  if (report.failed == StartStep::workdir) {
    end.status.detail = "can't enter the working folder: " + cause;
  } else if (report.failed != StartStep::exec) {
    end.failure =
        std::string("a command could not be confined: ") + name_of(report.failed) + ": " + cause;
  } else if (report.error == ENOENT) {
    const bool path = name.find('/') != std::string::npos;
    end.status.detail = "no such program '" + name + (path ? "'" : "' on PATH");
  } else if (report.error == E2BIG) {
    end.status.detail = "arguments and environment are too long";
  } else {
    end.status.detail = "can't execute '" + name + "': " + cause;
  }
  return end;
}

/// How a command ended by itself, as its first process reported; that process is gone.
/// @param report  read end of the pipe that start_command() was given, non-blocking
/// @param name    argv[0], for the message of a failed start
/// @param limits  for the message if a signal reports that one was reached
CommandEnd read_command_end(const Fd& report, const std::string& name, const PolicyLimits& limits) {
  StartReport last;
  bool known = false;
  for (StartReport next; ::read(report.get(), &next, sizeof next) == sizeof next;) {
    if (!known || last.failed == StartStep::none) last = next;
    known = true;
  }
  if (known && last.failed != StartStep::none) return failed_start(last, name);
  CommandEnd end;
  if (known) {
    end.status = status_of(last);
    end.status.detail = limit_reached(end.status, limits);
  } else {
    end.status.ending = Ending::signalled;
    end.status.code = SIGKILL;
    end.status.detail = "its first process was killed from outside";
  }
  return end;
}

/// For the operator: the run ends with it.
std::string exposed_words(const Mask& mask) {
  return mask.path.string() +
         " was replaced by a program outside of the run while a command ran, so " +
         "that for a moment nothing " +
         (mask.source.empty() ? "kept the command from changing it" : "hid it from the command") +
         ": its output is withheld. Start the run again, and let nothing replace files meanwhile that "
         "the policy hides or protects";
}

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// The pause between two samples of the limits. Looking at a hundred processes takes longer than at a
/// few: then the pause is longer, up to a bound, so that a hundred take less than a fiftieth of a core.
constexpr milliseconds kSample{50};
constexpr milliseconds kLongestPause{125};
constexpr int kPauseBySample = 75;
constexpr off_t kMaxRequest = 16 << 20;

Command read_request(const Fd& request) {
  Command command = decode_command(read_memory_file(request, kMaxRequest));
  if (command.argv.empty()) throw Error("a command without a program");
  return command;
}

/// Assigns the descriptors of a request, in the order documented at keeper_main().
CommandStreams streams_of(const Command& command, std::vector<Fd> came) {
  CommandStreams streams;
  std::size_t next = 0;
  const auto take = [&](Fd& stream) {
    if (next < came.size()) stream = std::move(came[next]);
    ++next;
  };
  if (command.input != CommandInput::terminal) take(streams.output);
  if (command.input == CommandInput::pipe) take(streams.input);
  if (command.errors_apart) take(streams.errors);
  if (next != came.size()) throw Error("a command's request has the wrong descriptors");
  return streams;
}

}  // namespace

KeeperService::KeeperService(const KeeperStart& start, View view, ByKind<SeccompFilter> filters)
    : profile_(start.profile),
      view_(std::move(view)),
      socket_(start.socket),
      group_(start.group),
      layers_(profile_, std::move(filters), start.network, start.gate),
      sets_(profile_, view_),
      watch_(profile_, sets_) {
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  signals_ = Fd(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) throw system_error("signalfd", ExitCode::environment);
  if (view_.masks.empty()) return;
  mounts_ = Fd(::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
  if (!mounts_) throw system_error("open /proc/self/mountinfo", ExitCode::environment);
}

void KeeperService::serve() {
  while (!quit_) {
    wait();
    if (steady_clock::now() >= next_sample_) sample();
  }
}

bool KeeperService::end_all() {
  for (const auto& command : running_) ::kill(command.first, SIGKILL);
  kill_group(group_);
  if (profile_.use_namespaces) ::kill(-1, SIGKILL);  // process 1 itself is left out
  for (;;) {
    const pid_t ended = ::waitpid(-1, nullptr, 0);
    if (ended < 0 && errno != EINTR) break;
    if (!profile_.use_namespaces && ended > 0) kill_strays({});
  }
  // Those of an overlay are in its upper folder, where an empty folder is not a change: unmounting
  // them one by one would take longer than the rest of the shutdown.
  if (profile_.mount.kind != MountPlan::Kind::overlay) remove_placeholders(view_);
  const bool clean = children_of(::getpid()).empty();
  if (clean) date_end();
  return clean;
}

/// What is written later is not the run's.
void KeeperService::date_end() const {
  const MountPlan& plan = profile_.mount;
  if (plan.ended.empty()) return;
  if (view_.state)
    ::utimensat(view_.state.get(), plan.ended.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  else
    ::utimensat(AT_FDCWD, (plan.beside / plan.ended).c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

void KeeperService::wait() {
  std::vector<pollfd> polled = {
      {socket_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}, {mounts_.get(), POLLPRI, 0}};
  for (const auto& command : running_) polled.push_back({command.control.get(), POLLIN, 0});
  int timeout = -1;
  if (!running_.empty()) {
    const auto left = std::chrono::ceil<milliseconds>(next_sample_ - steady_clock::now());
    timeout = static_cast<int>(std::max<std::int64_t>(left.count(), 0));
  } else {
    next_sample_ = steady_clock::time_point::max();
  }
  if (::poll(polled.data(), polled.size(), timeout) <= 0) return;
  // In the order they were listed in: no command is added or removed before this is done.
  std::size_t place = 3;
  if (polled[2].revents != 0) check_masks();
  for (auto& command : running_) {
    if (polled[place++].revents != 0) on_message(command);
  }
  if (polled[1].revents != 0) reap();
  if (polled[0].revents != 0) take_request();
}

/// Another program may have replaced a file under a mask. Commands that run have mounts of their own, so
/// that nothing can be done for them but to end them; those that come find the mask again.
void KeeperService::check_masks() {
  const std::vector<Mask> fallen = fallen_masks(view_.masks);
  if (fallen.empty()) return;
  for (Running& command : running_) {
    command.exposed = exposed_words(fallen.front());
    end(command, Ending::cancelled, "");
  }
  try {
    lay_again(view_.masks, view_.private_root);
    sets_.in_each_view([this] { lay_again(view_.masks, view_.private_root); });
  } catch (const std::exception& error) {
    broken_ = error.what();
  }
}

/// A message over a command's socket asks for the command's end; so does closing that socket.
void KeeperService::on_message(Running& command) {
  const auto message = receive_message(command.control.get(), Wait::no);
  if (message.bytes.empty() && !message.closed) return;
  if (!message.bytes.empty() && message.bytes.front() == kAskToEnd) return ask_to_end(command);
  const Ending why =
      message.bytes.empty() ? Ending::cancelled : static_cast<Ending>(message.bytes.front());
  end(command, why, "");
}

/// The program is the oldest child of the command's first process: orphaned descendants come after
/// it. It leads a process group since before its exec.
void KeeperService::ask_to_end(const Running& command) {
  const std::vector<pid_t> children = children_of(command.first);
  if (children.empty()) return;
  if (::kill(-children.front(), SIGTERM) != 0) ::kill(children.front(), SIGTERM);
}

void KeeperService::end(Running& command, Ending why, const std::string& detail) {
  if (command.why) return;
  command.why = why;
  command.detail = detail;
  ::kill(command.first, SIGKILL);
}

void KeeperService::reap() {
  signalfd_siginfo ignored[16];
  while (::read(signals_.get(), ignored, sizeof ignored) > 0) {
  }
  for (;;) {
    rusage use{};
    const pid_t ended = ::wait4(-1, nullptr, WNOHANG, &use);
    if (ended <= 0) return;
    watch_.add_ended(use);
    const auto found = std::find_if(running_.begin(), running_.end(),
                                    [&](const Running& each) { return each.first == ended; });
    if (found == running_.end()) continue;
    check_masks();  // one that fell without a word: its file was renamed, and another took its name
    const Running command = std::move(*found);
    running_.erase(found);
    if (running_.empty()) watch_.rest();
    answer(command);
  }
}

void KeeperService::answer(const Running& command) {
  bool swept = false;
  if (!profile_.use_namespaces) {
    std::vector<pid_t> spared;
    for (const auto& other : running_) spared.push_back(other.first);
    swept = kill_strays(spared) > 0;
  }
  CommandEnd end = read_command_end(command.report, command.name, profile_.limits);
  if (!command.exposed.empty()) end.failure = command.exposed;
  if (command.why && end.failure.empty() && end.status.ending != Ending::not_started) {
    end.status = {};
    end.status.ending = *command.why;
    end.status.detail = command.detail;
  } else if (!end.status.success() && memory_kills(group_) > command.memory_kills) {
    end.status.ending = Ending::memory_limit;
    end.status.detail = watch_.memory_words();
  }
  end.status.ended_background |= swept && !command.why;
  end.status.duration =
      std::chrono::duration_cast<milliseconds>(steady_clock::now() - command.started);
  send_message(command.control.get(), encode_end(end));
}

void KeeperService::take_request() {
  ChannelMessage message = receive_message(socket_.get(), Wait::no);
  if (message.closed) quit_ = true;
  if (message.bytes.empty()) return;
  WireReader reader(message.bytes);
  const auto word = static_cast<KeeperWord>(reader.number());
  if (word == KeeperWord::drop_set) return sets_.drop(reader.text());
  if (word == KeeperWord::make_tree && message.descriptors.size() == 1)
    return make_tree(reader, message.descriptors.front());
  if (word != KeeperWord::start || message.descriptors.size() < 2) {
    quit_ = true;
    return;
  }
  std::vector<Fd> streams;
  for (std::size_t i = 2; i < message.descriptors.size(); ++i)
    streams.push_back(std::move(message.descriptors[i]));
  start(message.descriptors[0], std::move(message.descriptors[1]), std::move(streams));
}

void KeeperService::make_tree(WireReader& reader, const Fd& answer) {
  WireWriter writer;
  try {
    const Fd root = sets_.make_with_tree(take_set_tree(reader));
    writer.number(static_cast<std::int64_t>(KeeperWord::ready));
    send_message(answer.get(), writer.bytes(), {root.get()});
  } catch (const std::exception& error) {
    writer.number(static_cast<std::int64_t>(KeeperWord::failed));
    writer.text(error.what());
    send_message(answer.get(), writer.bytes());
  }
}

void KeeperService::start(const Fd& request, Fd control, std::vector<Fd> came) {
  CommandEnd refused;
  try {
    check_masks();
    if (!broken_.empty()) throw Error("a command could not be confined: " + broken_);
    Command command = read_request(request);
    CommandStreams streams = streams_of(command, std::move(came));
    Running running;
    running.set = sets_.of(command);
    if (running.set) running.set->adapt(command.environment);
    const CommandLayers& layers = layers_.of(command);
    const CommandPlaces places =
        running.set ? running.set->places_for(layers, command.read_only) : CommandPlaces{};
    if (command.input == CommandInput::terminal)
      streams.input = hand_out_terminal(control, running.set.get());
    Pipe report = make_pipe();
    ::fcntl(report.read.get(), F_SETFL, O_NONBLOCK);
    const std::uint64_t kills = memory_kills(group_);
    watch_.rest();  // the command's first process would have its files open, too
    running.first =
        start_command(command, layers, places, group_, std::move(streams), report.write);
    if (running.first > 0) {
      running.control = std::move(control);
      running.report = std::move(report.read);
      running.name = command.argv.front();
      running.memory_kills = kills;
      if (running_.empty()) {
        next_sample_ = steady_clock::now() + kSample;
        watch_.begin();
      }
      running_.push_back(std::move(running));
      return;
    }
    refused.failure = "a command could not be confined: clone: " + errno_text(errno);
  } catch (const NoTerminal& error) {
    refused.status.ending = Ending::not_started;
    refused.status.detail = error.what();
  } catch (const std::exception& error) {
    refused.failure = error.what();
  }
  send_message(control.get(), encode_end(refused));
}

/// Sends the master to the other side, so that no process inherits it, and returns the slave.
Fd KeeperService::hand_out_terminal(const Fd& control, const PrivateSet* set) {
  Terminal terminal =
      set != nullptr ? set->new_terminal() : open_terminal(profile_.uid, profile_.gid);
  if (!send_message(control.get(), "terminal", {terminal.master.get()}))
    throw system_error("hand out a terminal");
  return std::move(terminal.slave);
}

/// Kills commands that exceed a limit.
void KeeperService::sample() {
  const auto began = steady_clock::now();
  std::vector<pid_t> commands;
  for (const auto& command : running_) commands.push_back(command.first);
  for (const Excess& excess : watch_.sample(commands)) {
    for (auto& command : running_) {
      if (command.first == excess.command) end(command, excess.why, excess.detail);
    }
  }
  const auto now = steady_clock::now();
  const Clock::duration pause = kPauseBySample * (now - began);
  next_sample_ = now + std::clamp<Clock::duration>(pause, kSample, kLongestPause);
}

}  // namespace sortie
