#include "tools/commands/exec_sessions.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/text/text.h"
#include "policies/engine/typed_input.h"

namespace sortie {
namespace {

/// Limit for the output between two calls in the transcript: less than for an ordinary command,
/// since many sessions may hold output at once.
constexpr std::size_t kRecorded = 512u << 10;
/// Limit for consecutive reads, so that a session with much output does not block the others.
constexpr int kReadsAtOnce = 16;

constexpr char kInterrupt = '\x03';
constexpr char kEndOfInput = '\x04';

using std::chrono::milliseconds;
using Clock = ExecSession::Clock;

/// The keeper kills with SIGKILL: only an overloaded machine takes longer.
constexpr std::chrono::seconds kEndWithin{20};

std::string how_it_ended(const ExitStatus& status) {
  if (status.ending == Ending::exited)
    return "has ended with exit code " + std::to_string(status.code);
  return "has ended";
}

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
    if (characters.find(kInterrupt) != std::string_view::npos) return kill("ended by control-C");
    if (!characters.empty() && characters.back() == kEndOfInput) {
      characters.remove_suffix(1);
      closes_input_ = true;
    }
  }
  to_write_ += characters;
  line_ += characters;
  line_.erase(0, line_.size() - unfinished_input(line_).size());
  if (line_.size() > kLongestTypedLine) line_.erase(0, line_.size() - kLongestTypedLine);
  last_activity_ = Clock::now();
  if (!ended_) write();
}

void ExecSession::kill(std::string how) {
  if (ending_ || ended_) return;
  how_killed_ = std::move(how);
  end(Ending::cancelled);
}

void ExecSession::end(Ending why) {
  if (ending_ || ended_) return;
  ending_ = true;
  running_->end(why);
}

bool ExecSession::advance() {
  if (ended_ || failure_) return false;
  const std::uint64_t before = total_;
  try {
    for (int i = 0; i < kReadsAtOnce && read(); ++i) {
    }
    if (has_to_write()) write();
    if (command_.max_output_bytes > 0 && total_ > command_.max_output_bytes)
      end(Ending::output_limit);
    if (Clock::now() >= deadline_) end(Ending::timed_out);
    if (auto status = running_->status()) {
      // All processes are dead: the pipe holds the rest of the output.
      while (read()) {
      }
      if (status->ending == Ending::exited && command_.max_output_bytes > 0 &&
          total_ > command_.max_output_bytes)
        status->ending = Ending::output_limit;
      if (status->ending == Ending::cancelled && !how_killed_.empty())
        status = ExitStatus{.ending = Ending::signalled,
                            .code = SIGKILL,
                            .detail = how_killed_,
                            .duration = status->duration};
      ended_ = std::move(status);
      finish();
    }
  } catch (...) {
    failure_ = std::current_exception();
  }
  return total_ != before;
}

/// @return  whether there was any output
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
  last_activity_ = Clock::now();
  unread_ = true;
  line_ended_ = buffer[static_cast<std::size_t>(count) - 1] == '\n';
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
      to_write_.clear();  // nobody reads it anymore
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

ExecSessions::ExecSessions(Launcher& launcher, const SessionOutputs& outputs)
    : launcher_(launcher), outputs_(outputs), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_) throw system_error("eventfd");
}

ExecSessions::~ExecSessions() {
  stop_thread();
  // Destructors wait for the end: signalled all at once, the sessions end in parallel.
  for (auto& [id, session] : sessions_) session->end(Ending::cancelled);
}

int ExecSessions::open(Command command, std::vector<std::string> asked) {
  {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> running;
    for (const auto& [id, session] : sessions_)
      if (!session->ended()) running.push_back(std::to_string(id));
    if (running.size() >= kMaxSessions)
      throw ToolError(
          "not started: " + std::to_string(kMaxSessions) +
          " sessions are running, which is the maximum (" + joined(running, ", ") +
          "). End one first: write_stdin with chars \"\\u0003\" (Control-C), or with kill: "
          "true if it ignores that.");
    forget_oldest_ended();
  }
  auto running = launcher_.start(command);
  const milliseconds timeout = std::min(command.timeout, launcher_.time_left());
  const std::lock_guard lock(mutex_);
  const int id = ++last_id_;
  sessions_.emplace(
      id, std::make_unique<ExecSession>(ExecSession::Started{std::move(command), std::move(asked),
                                                             std::move(running), timeout},
                                        outputs_));
  start_thread();
  wake();
  return id;
}

/// Their last output was not read while kMaxSessions others were started.
void ExecSessions::forget_oldest_ended() {
  while (sessions_.size() >= 2 * kMaxSessions) {
    const auto oldest = std::find_if(sessions_.begin(), sessions_.end(),
                                     [](const auto& one) { return one.second->ended(); });
    if (oldest == sessions_.end()) return;
    gone_[oldest->first] = how_it_ended(*oldest->second->ended());
    sessions_.erase(oldest);
  }
}

ExecSession& ExecSessions::find(int id) {
  const auto found = sessions_.find(id);
  if (found != sessions_.end()) return *found->second;
  const auto gone = gone_.find(id);
  if (gone != gone_.end()) throw ToolError("session " + std::to_string(id) + ' ' + gone->second);
  if (id > 0 && id <= lost_ids_)
    throw ToolError("session lost: session " + std::to_string(id) +
                    " ended when the run was interrupted; start its command again if you need it");
  const std::string open =
      joined(sessions_, ", ", [](const auto& one) { return std::to_string(one.first); });
  throw ToolError("no session " + std::to_string(id) +
                  (open.empty() ? "; none is open" : "; open sessions: " + open));
}

void ExecSessions::lose(int last_id) {
  const std::lock_guard lock(mutex_);
  last_id_ = std::max(last_id_, last_id);
  lost_ids_ = last_id_;
}

ExecSessions::Typed ExecSessions::describe(int id) {
  const std::lock_guard lock(mutex_);
  const ExecSession& session = find(id);
  return {.argv = session.asked(),
          .workdir = session.command().workdir,
          .unfinished_line = session.unfinished_line(),
          .terminal = session.command().input == CommandInput::terminal,
          .runs = !session.ended()};
}

std::vector<ExecSessions::Open> ExecSessions::open_sessions() {
  const std::lock_guard lock(mutex_);
  std::vector<Open> open;
  for (const auto& [id, session] : sessions_)
    if (!session->ended()) open.push_back({id, session->asked(), session->command().workdir});
  return open;
}

void ExecSessions::type(int id, std::string_view characters) {
  const std::lock_guard lock(mutex_);
  ExecSession& session = find(id);
  if (session.ended() || session.failure()) return;
  session.type(characters);
  wake();
}

void ExecSessions::kill(int id) {
  const std::lock_guard lock(mutex_);
  ExecSession& session = find(id);
  if (session.ended() || session.failure()) return;
  session.kill("killed as asked");
  wake();
}

void ExecSessions::wait_until(std::unique_lock<std::mutex>& lock, const ExecSession& session,
                              milliseconds time, Until until, const std::stop_token& stop) {
  const auto deadline = Clock::now() + time;
  const auto over = [&session] { return session.ended() || session.failure(); };
  const auto may_rest = [&] {
    return until == Until::quiet || (until == Until::prompt && session.prompts());
  };
  while (!over() && !stop.stop_requested()) {
    const auto active = session.last_activity();
    const auto rests = may_rest() ? active + kQuiet : deadline;
    if (Clock::now() >= std::min(rests, deadline)) return;
    changed_.wait_until(lock, stop, std::min(rests, deadline),
                        [&] { return over() || session.last_activity() != active; });
  }
}

ExecSessions::Poll ExecSessions::wait(int id, milliseconds time, Until until,
                                      std::size_t shown_bytes, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  ExecSession& session = find(id);
  const auto over = [&session] { return session.ended() || session.failure(); };
  // When the run's time is up, each session ends or the stop is requested.
  wait_until(lock, session, time, until, stop);
  if (stop.stop_requested() && !over()) {
    session.end(Ending::cancelled);
    wake();
    changed_.wait_for(lock, kEndWithin, over);
  }
  if (session.failure()) {
    const std::exception_ptr failure = session.failure();
    sessions_.erase(id);
    std::rethrow_exception(failure);
  }
  Poll news{.output = session.take(shown_bytes),
            .ended = session.ended(),
            .command = session.command(),
            .age = session.age(),
            .unwritten = session.unwritten(),
            .held_back = session.held_back()};
  if (news.ended) {
    gone_[id] = how_it_ended(*news.ended);
    sessions_.erase(id);
  }
  return news;
}

int ExecSessions::end_all(const std::string& why) {
  stop_thread();
  std::map<int, std::unique_ptr<ExecSession>> ended;
  {
    const std::lock_guard lock(mutex_);
    ended.swap(sessions_);
  }
  for (auto& [id, session] : ended) {
    const bool runs = !session->ended();
    gone_[id] = runs ? "was ended " + why : how_it_ended(*session->ended());
    session->end(Ending::cancelled);
  }
  return static_cast<int>(ended.size());
}

void ExecSessions::start_thread() {
  if (!thread_.joinable()) thread_ = std::jthread([this](std::stop_token stop) { work(stop); });
}

void ExecSessions::stop_thread() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  wake();
  thread_.join();
}

void ExecSessions::wake() const { ::eventfd_write(wake_.get(), 1); }

void ExecSessions::work(std::stop_token stop) {
  std::vector<pollfd> polled;
  while (!stop.stop_requested()) {
    polled.assign(1, {wake_.get(), POLLIN, 0});
    auto next = Clock::now() + std::chrono::minutes(1);
    {
      const std::lock_guard lock(mutex_);
      bool changed = false;
      for (auto& [id, session] : sessions_) {
        if (session->ended() || session->failure()) continue;
        const bool printed = session->advance();
        changed = changed || printed || session->ended() || session->failure();
        if (session->ended() || session->failure()) continue;
        RunningCommand& running = session->running();
        polled.push_back({running.ended_descriptor(), POLLIN, 0});
        if (session->reads()) polled.push_back({running.output().get(), POLLIN, 0});
        if (session->has_to_write()) polled.push_back({running.input().get(), POLLOUT, 0});
        if (Clock::now() < session->deadline()) next = std::min(next, session->deadline());
      }
      if (changed) changed_.notify_all();
    }
    const auto left = std::chrono::ceil<milliseconds>(next - Clock::now()).count();
    ::poll(polled.data(), polled.size(), static_cast<int>(std::max<std::int64_t>(left, 0)));
    std::uint64_t ignored = 0;
    ::eventfd_read(wake_.get(), &ignored);
  }
}

}  // namespace sortie
