#include "tools/mcp/transport/stdio_transport.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "core/base/error.h"
#include "core/text/output_buffer.h"
#include "core/text/text.h"

namespace sortie::mcp {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Bytes of one read, so that the pipes take turns.
constexpr std::size_t kPiece = 64 * 1024;
/// A killed server is gone at once, except on an overloaded machine.
constexpr std::chrono::seconds kGoneWithin{20};
/// How long a server may continue after it has closed its stdout.
constexpr std::chrono::seconds kAfterStdoutClosed{1};

/// Reads once. @return  false at the end
template <typename Sink>
bool read_piece(const Fd& from, const Sink& sink, bool& some) {
  std::array<char, kPiece> buffer;
  const ssize_t count = ::read(from.get(), buffer.data(), buffer.size());
  some = count > 0;
  if (some) sink(std::string_view(buffer.data(), static_cast<std::size_t>(count)));
  return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

}  // namespace

void LineReader::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
    if (!skipping_ && held_.size() + part.size() > max_bytes_) {
      skipping_ = true;
      sink_.too_long(held_.size() + part.size());
      held_ = {};
    }
    if (end == std::string_view::npos) {
      if (!skipping_) grow_by(held_, part);
    } else if (skipping_) {
      skipping_ = false;
    } else if (held_.empty()) {
      emit(part);
    } else {
      grow_by(held_, part);
      const std::string line = std::move(held_);
      held_ = {};
      emit(line);
    }
  }
}

void LineReader::emit(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  sink_.line(line);
}

struct StdioTransport::Process {
  std::unique_ptr<RunningCommand> running;
  LineReader lines;
  bool output_open = true;
  bool errors_open = true;
  std::optional<Deadline> closed_at{};  ///< when its stdin was closed, so that it ends
  bool terminated = false;              ///< SIGTERM was sent
  std::optional<Deadline> kill_at{};
  std::optional<Deadline> give_up_at{};

  /// SIGTERM follows when half of the time after closing stdin has passed.
  Deadline terminate_at() const { return *closed_at + (*kill_at - *closed_at) / 2; }
  /// When the next step towards its end is due, if it is to end.
  std::optional<Deadline> next_step() const {
    if (give_up_at || !kill_at) return give_up_at;
    return terminated ? *kill_at : std::min(terminate_at(), *kill_at);
  }

  void kill() {
    if (give_up_at) return;
    running->end(Ending::cancelled);
    give_up_at = steady_clock::now() + kGoneWithin;
  }
};

StdioTransport::StdioTransport(Launcher& launcher, Command command, StdioLimits limits)
    : launcher_(launcher), command_(std::move(command)), limits_(limits) {
  command_.input = CommandInput::pipe;
  command_.errors_apart = true;
  command_.max_output_bytes = 0;
}

StdioTransport::~StdioTransport() {
  close(steady_clock::now());
  if (thread_.joinable()) thread_.join();
}

void StdioTransport::open(Receiver& receiver, Deadline /*deadline*/, std::stop_token /*stop*/) {
  receiver_ = &receiver;
  try {
    wake_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake_) throw system_error("eventfd");
    LineReader lines(limits_.max_message_bytes,
                     {.line = [this](std::string_view line) { take_line(line); },
                      .too_long = [this](std::size_t bytes) { take_long_line(bytes); }});
    process_ = std::make_unique<Process>(
        Process{.running = launcher_.start(command_), .lines = std::move(lines)});
    thread_ = std::thread([this] { run(); });
  } catch (const std::exception& error) {
    process_.reset();
    throw TransportError(error.what());
  }
}

void StdioTransport::send(const Message& message) {
  std::string line = write_message(message) + '\n';
  {
    const std::lock_guard lock(mutex_);
    if (is_over_ || close_by_ || !thread_.joinable()) throw TransportError("the server has ended");
    if (waiting_.size() + line.size() > limits_.max_waiting_bytes)
      throw TransportError("the server does not read its input: " + size_in_words(waiting_.size()) +
                           " are waiting");
    waiting_ += line;
    if (message.kind == Message::Kind::request) {
      open_[id_text(message.id)] = message.id;
      unasked_ = 0;
    }
  }
  wake();
}

void StdioTransport::abandon(const Json& id) {
  const std::lock_guard lock(mutex_);
  open_.erase(id_text(id));
}

void StdioTransport::close(Deadline deadline) {
  if (!thread_.joinable()) return;
  std::unique_lock lock(mutex_);
  close_by_ = close_by_ ? std::min(*close_by_, deadline) : deadline;
  lock.unlock();
  wake();
  lock.lock();
  over_.wait(lock, [this] { return is_over_; });
}

void StdioTransport::wake() { ::eventfd_write(wake_.get(), 1); }

void StdioTransport::run() {
  std::string why;
  try {
    why = converse(*process_);
  } catch (const std::exception& error) {
    why = error.what();
  }
  process_.reset();
  if (const std::string rest = error_text_.finish(); !rest.empty())
    receiver_->remarked({Remark::Kind::stderr_text, rest});
  receiver_->closed(why);
  const std::lock_guard lock(mutex_);
  is_over_ = true;
  over_.notify_all();
}

/// Runs until the process has ended. @return  why it ended
std::string StdioTransport::converse(Process& process) {
  const auto take_output = [&](std::string_view bytes) { process.lines.feed(bytes); };
  const auto take_text = [this](std::string_view bytes) { take_errors(bytes); };
  for (;;) {
    const auto status = process.running->status();
    bool some = false;
    if (process.output_open)
      process.output_open = read_piece(process.running->output(), take_output, some);
    bool more = some;
    if (process.errors_open)
      process.errors_open = read_piece(process.running->errors(), take_text, some);
    more = more || some;
    // All its processes are dead then: the pipes hold the rest of the output.
    if (status && !more) return ended(*status, process.terminated);
    if (!kill_reason_.empty()) process.kill();
    write_some(process);
    end_gracefully(process);
    if (!more) wait(process);
  }
}

void StdioTransport::wait(Process& process) {
  Deadline until = steady_clock::now() + std::chrono::minutes(1);
  if (const auto next = process.next_step()) until = std::min(until, *next);
  bool has_input = false;
  {
    const std::lock_guard lock(mutex_);
    has_input = !waiting_.empty();
  }
  const auto& running = *process.running;
  const int input = has_input && !process.closed_at ? process.running->input().get() : -1;
  std::array<pollfd, 5> polled = {{{wake_.get(), POLLIN, 0},
                                   {running.ended_descriptor(), POLLIN, 0},
                                   {process.output_open ? running.output().get() : -1, POLLIN, 0},
                                   {process.errors_open ? running.errors().get() : -1, POLLIN, 0},
                                   {input, POLLOUT, 0}}};
  const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now()).count();
  ::poll(polled.data(), polled.size(), static_cast<int>(std::max<std::int64_t>(left, 0)));
  eventfd_t ignored = 0;
  if (polled[0].revents != 0) ::eventfd_read(wake_.get(), &ignored);
}

/// Closes its stdin, then sends SIGTERM, then kills it.
void StdioTransport::end_gracefully(Process& process) {
  const auto now = steady_clock::now();
  std::optional<Deadline> by = process.kill_at;
  {
    const std::lock_guard lock(mutex_);
    if (close_by_) by = by ? std::min(*by, *close_by_) : *close_by_;
  }
  // A server that closed its stdout is of no use, even if it lives on.
  if (!by && !process.output_open) {
    by = now + kAfterStdoutClosed;
    if (end_reason_.empty()) end_reason_ = "it closed its stdout";
  }
  if (!by) return;
  process.kill_at = by;
  if (!process.closed_at) {
    process.closed_at = now;
    process.running->input().reset();
  }
  if (!process.terminated && now >= process.terminate_at() && now < *by) {
    process.terminated = true;
    process.running->ask_to_end();
  }
  if (process.give_up_at && now >= *process.give_up_at)
    throw Error("it did not end within 20 s after being killed");
  if (now >= *by) process.kill();
}

void StdioTransport::write_some(Process& process) {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty() || process.closed_at) return;
  const ssize_t count =
      ::write(process.running->input().get(), waiting_.data(), std::min(waiting_.size(), kPiece));
  if (count > 0) waiting_.erase(0, static_cast<std::size_t>(count));
  // Nobody reads: the server has ended, which is noticed elsewhere, or has closed its stdin.
  if (count < 0 && errno != EAGAIN && errno != EINTR) {
    waiting_.clear();
    if (errno == EPIPE && kill_reason_.empty()) kill_reason_ = "it closed its stdin";
  }
}

void StdioTransport::take_line(std::string_view line) {
  if (line.find_first_not_of(" \t") == std::string_view::npos) return;
  std::vector<Message> messages;
  try {
    messages = parse_messages(line, {.max_bytes = limits_.max_message_bytes});
  } catch (const RpcFormatError& error) {
    take_broken_line(line, error.what());
  }
  {
    const std::lock_guard lock(mutex_);
    unasked_ += static_cast<int>(std::max<std::size_t>(messages.size(), 1));
    if (unasked_ > limits_.max_unasked && kill_reason_.empty())
      kill_reason_ =
          "it sent more than " + std::to_string(limits_.max_unasked) + " unsolicited messages";
    for (const Message& message : messages)
      if (message.is_reply()) open_.erase(id_text(message.id));
  }
  if (!kill_reason_.empty()) return;
  for (Message& message : messages) receiver_->received(std::move(message));
}

/// Fails the request whose reply is malformed, so that nobody waits for it. Log lines are ignored.
void StdioTransport::take_broken_line(std::string_view line, const std::string& why) {
  receiver_->remarked(
      {Remark::Kind::bad_message, "on its stdout, " + why + ": " + one_line(line, 200)});
  const BrokenMessage broken = inspect_broken(line);
  if (!broken.is_reply) return;
  Json id;
  {
    const std::lock_guard lock(mutex_);
    const auto found = !broken.id.is_null() ? open_.find(id_text(broken.id))
                       : open_.size() == 1  ? open_.begin()
                                            : open_.end();
    if (found == open_.end()) return;
    id = std::move(found->second);
    open_.erase(found);
  }
  receiver_->failed(id, "its answer is not valid JSON-RPC (" + why + ")");
}

/// Fails all open requests: the line may have been the reply to any of them.
void StdioTransport::take_long_line(std::size_t /*bytes*/) {
  const std::string what =
      "it sent a message of more than " + size_in_words(limits_.max_message_bytes);
  receiver_->remarked({Remark::Kind::bad_message, what + ", which was skipped"});
  std::map<std::string, Json> open;
  {
    const std::lock_guard lock(mutex_);
    open.swap(open_);
  }
  for (const auto& [text, id] : open) receiver_->failed(id, what);
}

void StdioTransport::take_errors(std::string_view bytes) {
  const std::string text = error_text_.feed(bytes);
  if (text.empty()) return;
  for (const std::string_view line : split_lines(text))
    if (line.find_first_not_of(" \t") != std::string_view::npos)
      last_error_line_ = one_line(line, 300);
  receiver_->remarked({Remark::Kind::stderr_text, text});
}

/// @param terminated  whether it was sent SIGTERM
std::string StdioTransport::ended(const ExitStatus& status, bool terminated) const {
  std::string why;
  const bool as_asked = terminated && status.ending == Ending::signalled && status.code == SIGTERM;
  const std::string& reason = kill_reason_.empty() ? end_reason_ : kill_reason_;
  switch (as_asked ? Ending::cancelled : status.ending) {
    case Ending::exited:
      why = "it exited with code " + std::to_string(status.code);
      break;
    case Ending::signalled:
      why = "it was killed by signal " + std::to_string(status.code);
      break;
    case Ending::not_started:
      why = "it could not be started";
      break;
    case Ending::cancelled:
      why = as_asked ? "it was terminated" : "it had to be killed";
      if (!reason.empty()) why += ": " + reason;
      break;
    case Ending::timed_out:
    case Ending::output_limit:
    case Ending::memory_limit:
    case Ending::process_limit:
    case Ending::disk_limit:
      why = "it was ended at a limit of the policy";
      break;
  }
  if (!status.detail.empty()) why += ": " + one_line(status.detail, 300);
  if (status.ending == Ending::exited && !last_error_line_.empty())
    why += "; its last line on stderr: " + last_error_line_;
  return why;
}

}  // namespace sortie::mcp
