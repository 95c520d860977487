#include "tools/commands/exec_sessions.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/error.h"

namespace sortie {
namespace {

using std::chrono::milliseconds;
using Clock = ExecSession::Clock;

/// The keeper kills with SIGKILL: only a machine in trouble takes longer.
constexpr std::chrono::seconds kEndWithin{20};

std::string how_it_ended(const ExitStatus& status) {
  if (status.ending == Ending::exited)
    return "has ended with exit code " + std::to_string(status.code);
  return "has ended";
}

}  // namespace

ExecSessions::ExecSessions(Launcher& launcher, const SessionOutputs& outputs)
    : launcher_(launcher), outputs_(outputs), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_) throw system_error("eventfd");
}

ExecSessions::~ExecSessions() {
  stop_thread();
  // Each waits for its end in its destructor: told all at once, they end side by side.
  for (auto& [id, session] : sessions_) session->end(Ending::cancelled);
}

int ExecSessions::open(Command command, std::vector<std::string> asked) {
  {
    const std::lock_guard lock(mutex_);
    std::string running;
    std::size_t count = 0;
    for (const auto& [id, session] : sessions_) {
      if (session->ended()) continue;
      ++count;
      running += (running.empty() ? "" : ", ") + std::to_string(id);
    }
    if (count >= kMost)
      throw ToolError("not started: " + std::to_string(kMost) +
                      " sessions run already, and there can't be more (" + running +
                      "). End one first: write_stdin with chars \"\\u0003\" (control-C) or, "
                      "where it reads its input, \"\\u0004\" (control-D).");
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

/// Nobody has asked for their last output for as long as it took to start kMost others.
void ExecSessions::forget_oldest_ended() {
  while (sessions_.size() >= 2 * kMost) {
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
  if (gone != gone_.end())
    throw ToolError("session " + std::to_string(id) + ' ' + gone->second + ": it is gone");
  std::string open;
  for (const auto& [number, session] : sessions_)
    open += (open.empty() ? "" : ", ") + std::to_string(number);
  throw ToolError("there is no session " + std::to_string(id) +
                  (open.empty() ? "; none is open" : "; open are: " + open));
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

std::vector<ExecSessions::Open> ExecSessions::open_ones() {
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

ExecSessions::News ExecSessions::wait(int id, milliseconds time, std::size_t shown_bytes,
                                      std::stop_token stop) {
  std::unique_lock lock(mutex_);
  ExecSession& session = find(id);
  const auto over = [&session] { return session.ended() || session.failure(); };
  // At the end of the run's time each session ends, or the stop is requested.
  changed_.wait_for(lock, stop, time, over);
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
  News news{.output = session.take(shown_bytes),
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
        session->go_on();
        changed = changed || session->ended() || session->failure();
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
