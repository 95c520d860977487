#include "app/commands/policy_batch.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/base/patient_io.h"
#include "policies/engine/engine.h"

namespace sortie {
namespace {

constexpr std::size_t kReadBytes = 256u << 10;
constexpr std::size_t kHeldBytes = 64u << 10;
constexpr std::chrono::hours kLongestPause{1};
/// No command is longer (execve(2)); a line beyond it is denied without being kept.
constexpr std::size_t kMaxLine = 8u << 20;

bool input_waits() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, 0) == 1;
}

/// Whoever asks may take his time, but not for ever.
void wait_for_input() {
  const auto last = std::chrono::steady_clock::now() + kLongestPause;
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(last - std::chrono::steady_clock::now());
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (left.count() > 0 && ::poll(&input, 1, static_cast<int>(left.count())) != 0) {
      if (input.revents != 0 || errno != EINTR) return;
      continue;
    }
    throw InputError("stdin: no line for an hour, and its end was not reached");
  }
}

/// Reads lines and answers them.
class Batch {
 public:
  explicit Batch(const CommandCheck& check) : check_(check), buffer_(kReadBytes, '\0') {}

  ExitCode run() {
    for (;;) {
      wait_for_input();
      const ssize_t size = ::read(STDIN_FILENO, buffer_.data(), buffer_.size());
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) throw Error("stdin: " + errno_text(errno), ExitCode::environment);
      if (size == 0) break;
      take(std::string_view(buffer_).substr(0, static_cast<std::size_t>(size)));
      if ((answers_.size() >= kHeldBytes || !input_waits()) && !flush()) return ExitCode::success;
    }
    if (!line_.empty() || too_long_) answer();
    flush();
    return ExitCode::success;
  }

 private:
  void take(std::string_view bytes) {
    for (std::size_t begin = 0; begin < bytes.size();) {
      const std::size_t end = bytes.find('\n', begin);
      const std::string_view part = bytes.substr(begin, end - begin);
      if (line_.size() + part.size() > kMaxLine) too_long_ = true;
      if (too_long_)
        line_.clear();
      else
        line_ += part;
      if (end == std::string_view::npos) return;
      answer();
      begin = end + 1;
    }
  }

  void answer() {
    answers_ += !too_long_ && check_.allows_line(line_) ? "allow\n" : "deny\n";
    line_.clear();
    too_long_ = false;
  }

  /// False where nobody reads any more.
  bool flush() {
    if (answers_.empty()) return true;
    if (const int number = write_within(STDOUT_FILENO, answers_); number != 0) {
      if (number == EPIPE) return false;
      throw Error("stdout: " + write_problem(number), ExitCode::environment);
    }
    answers_.clear();
    return true;
  }

  const CommandCheck& check_;
  std::string buffer_;
  std::string line_;
  bool too_long_ = false;
  std::string answers_;
};

}  // namespace

ExitCode check_batch(const Policy& policy) {
  const CommandCheck check(policy, policy.approval, std::filesystem::current_path());
  return Batch(check).run();
}

}  // namespace sortie
