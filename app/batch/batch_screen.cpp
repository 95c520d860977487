#include "app/batch/batch_screen.h"

#include <limits.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/base/own_variable.h"
#include "core/base/patient_io.h"
#include "core/text/ci_commands.h"
#include "core/text/display_width.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kMostWaiting = 256u << 10;
constexpr std::size_t kMostOfShownLine = 2000;

bool can_be_drawn_on() {
  const std::string kind = own_variable("TERM");
  return ::isatty(STDERR_FILENO) == 1 && !kind.empty() && kind != "dumb";
}

}  // namespace

BatchScreen::BatchScreen(const OutputStyle& style)
    : style_(style), table_(!style.quiet && can_be_drawn_on()) {
  look_at_size();
}

void BatchScreen::look_at_size() {
  winsize size{};
  if (!table_ || ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0) return;
  if (size.ws_col > 0) columns_ = size.ws_col;
  if (size.ws_row > 0) lines_ = size.ws_row;
}

void BatchScreen::put(std::string text) {
  last_ = std::chrono::steady_clock::now();
  if (waiting_.size() > kMostWaiting) {
    ++left_out_;
    return;
  }
  if (left_out_ > 0)
    waiting_ += "sortie: " + std::to_string(std::exchange(left_out_, 0)) +
                " lines are left out: the reader was too slow\n";
  waiting_ += text;
}

/// Moves to the table's first row and removes all below.
std::string BatchScreen::erased() {
  const std::size_t rows = std::exchange(drawn_, 0);
  return rows == 0 ? "" : "\x1b[" + std::to_string(rows) + "A\r\x1b[J";
}

void BatchScreen::say(const std::string& line) {
  if (style_.quiet) return;
  const std::string text =
      without_ci_commands(one_line(line, kMostOfShownLine), ci_systems()) + "\n";
  if (!table_) return put(text);
  const std::vector<std::string> rows = rows_;
  put(erased() + text);
  draw(rows);
}

void BatchScreen::draw(const std::vector<std::string>& rows) {
  if (!table_) return;
  // A reader that is behind would only see what is outdated by then.
  if (waiting_.size() > (8u << 10)) return;
  rows_ = rows;
  std::string text = drawn_ == 0 ? "" : "\x1b[" + std::to_string(drawn_) + "A\r";
  // Overwritten line by line, so that nothing flickers.
  for (const std::string& row : rows)
    text += cut_to_columns(one_line(row, kMostOfShownLine), columns_ - 1) + "\x1b[K\n";
  if (drawn_ > rows.size()) text += "\x1b[J";
  drawn_ = rows.size();
  put(std::move(text));
}

void BatchScreen::write_some() {
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

void BatchScreen::finish(const std::string& last) {
  if (table_) waiting_ += erased();
  if (!last.empty()) waiting_ += without_ci_commands(last, ci_systems()) + "\n";
  write_within(STDERR_FILENO, waiting_);
  waiting_.clear();
}

}  // namespace sortie
