#include "app/run/attempt_log.h"

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "app/show/call_lines.h"
#include "app/show/progress.h"
#include "core/base/patient_io.h"
#include "core/text/ci_commands.h"
#include "core/text/display_width.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kMostWaiting = 256u << 10;

std::string end_text(const AttemptEnd& end) {
  std::string text = "attempt " + std::to_string(end.number) + ": " + end.status;
  if (end.verified) text += *end.verified ? ", verified" : ", not verified";
  if (end.status != AttemptEnd::kNotStarted) {
    text += ", " + with_thousands(end.lines) + (end.lines == 1 ? " line" : " lines") + " in " +
            with_thousands(end.files) + (end.files == 1 ? " file" : " files") + ", " +
            with_thousands(end.tokens) + " tokens";
    if (end.cost && *end.cost > Cost()) text += ", " + end.cost->text() + " USD";
  }
  return text + (end.picked ? "; picked: " : "; ") + end.why;
}

}  // namespace

void AttemptLog::put(std::string line) {
  if (style_.quiet) return;
  if (waiting_.size() > kMostWaiting) {
    ++left_out_;
    return;
  }
  if (left_out_ > 0)
    waiting_ += "sortie: " + std::to_string(std::exchange(left_out_, 0)) +
                " lines are left out: the reader was too slow\n";
  waiting_ += line + "\n";
}

void AttemptLog::relay(int attempt, std::string_view lines) {
  const std::string mark = "attempt " + std::to_string(attempt) + " ";
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    put(mark + std::string(lines.substr(0, end)));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
}

void AttemptLog::say(const std::string& line) {
  const std::size_t columns = relayed_style(style_, 0).columns;
  bool first = true;
  for (const auto& part : wrapped(one_line(line, 2000), columns == 0 ? 0 : columns - 4)) {
    put(without_ci_commands((first ? "" : "    ") + part, ci_systems()));
    first = false;
  }
}

void AttemptLog::say_end(const AttemptEnd& attempt) { say(end_text(attempt)); }

void AttemptLog::write_some() {
  pollfd ready{STDERR_FILENO, POLLOUT, 0};
  // What a pipe takes at once if it takes anything: more could block.
  while (!waiting_.empty() && ::poll(&ready, 1, 0) == 1) {
    const ssize_t count =
        ::write(STDERR_FILENO, waiting_.data(), std::min<std::size_t>(waiting_.size(), PIPE_BUF));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count < 0)
      waiting_.clear();  // nobody reads
    else
      waiting_.erase(0, static_cast<std::size_t>(count));
  }
}

void AttemptLog::say_sum(const std::vector<AttemptEnd>& attempts, const SharedBudget::Use& used,
                         std::chrono::milliseconds duration) {
  const auto started = std::count_if(attempts.begin(), attempts.end(), [](const AttemptEnd& one) {
    return one.status != AttemptEnd::kNotStarted;
  });
  if (started < 2) return;
  const auto counted = [](std::int64_t count, const char* noun) {
    return with_thousands(count) + " " + noun + (count == 1 ? "" : "s");
  };
  say(counted(started, "attempt") + ": " + counted(used.turns, "turn") + ", " +
      counted(used.tool_calls, "call") + ", " + with_thousands(used.tokens) + " tokens" +
      (used.cost > Cost() ? ", " + used.cost.text() + " USD" : "") + ", " + seconds_text(duration));
}

void AttemptLog::finish(const std::string& last) {
  if (!last.empty()) waiting_ += without_ci_commands(last, ci_systems()) + "\n";
  write_within(STDERR_FILENO, waiting_);
  waiting_.clear();
}

}  // namespace sortie
