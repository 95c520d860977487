#include "app/show/progress.h"

#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <utility>

#include "app/show/standard_output.h"
#include "core/base/own_variable.h"
#include "core/text/display_width.h"
#include "core/text/text.h"

namespace sortie {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kStatusStep{1};
constexpr const char* kClear = "\r\x1b[K";

bool stderr_is_terminal() { return ::isatty(STDERR_FILENO) == 1; }

/// Some CI systems give their jobs a terminal whose every state stands in the log.
bool has_status_line() {
  const std::string terminal = own_variable("TERM");
  const bool ci = !own_variable("CI").empty() || ci_systems().any();
  return stderr_is_terminal() && !terminal.empty() && terminal != "dumb" && !ci;
}

bool use_colors(const std::string& wanted) {
  if (wanted != "auto") return wanted == "always";
  const std::string terminal = own_variable("TERM");
  return stderr_is_terminal() && !terminal.empty() && terminal != "dumb" &&
         own_variable("NO_COLOR").empty();
}

LogLines::Options with_groups(LogLines::Options options, const CiLog& log) {
  options.groups = log.has_groups();
  return options;
}

}  // namespace

OutputStyle relayed_style(OutputStyle style, std::size_t taken) {
  const std::size_t columns = has_status_line() ? error_columns() : 0;
  style.color = use_colors(style.color) ? "always" : "never";
  style.columns = columns == 0 ? 0 : std::max<std::size_t>(columns, taken + 20) - taken;
  style.relayed = true;
  return style;
}

Progress::Progress(const OutputStyle& style, LogLines::Options options, const Redactor& redactor,
                   ErrorStream& errors, std::chrono::seconds quiet)
    : style_(style),
      redactor_(redactor),
      errors_(errors),
      ci_log_(style.relayed ? CiSystems{} : ci_systems()),
      quiet_(quiet),
      terminal_(!style.relayed && has_status_line()),
      colors_(use_colors(style.color)),
      started_(steady_clock::now()),
      last_line_(started_),
      lines_(with_groups(options, ci_log_), redactor) {
  if (!style_.quiet) ticker_ = std::thread([this] { tick(); });
}

Progress::~Progress() { finish(false); }

LogStyle Progress::style() const {
  return {.colors = colors_,
          .verbose = style_.verbose,
          .columns = terminal_ ? error_columns() : style_.columns};
}

void Progress::finish(bool with_message) {
  {
    const std::lock_guard lock(mutex_);
    if (!done_ && !style_.quiet) {
      done_ = true;
      print(lines_.finish(style(), with_message));
      if (std::exchange(status_shown_, false)) errors_.write(kClear);
    }
    done_ = true;
  }
  wake_.notify_all();
  if (ticker_.joinable()) ticker_.join();
}

void Progress::tick() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kStatusStep, [this] { return done_; })) {
    if (terminal_)
      print({});
    else if (steady_clock::now() - last_line_ >= quiet_)
      print_line("still at work: turn " + std::to_string(lines_.turn()) + ", " + elapsed() + ", " +
                 lines_.now());
  }
}

std::string Progress::elapsed() const {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(steady_clock::now() - started_).count();
  if (seconds < 60) return std::to_string(seconds) + " s";
  return std::to_string(seconds / 60) + " min " + std::to_string(seconds % 60) + " s";
}

/// One short of the width: a full line would wrap, and the next clear would leave it behind.
std::string Progress::status_line() const {
  const std::size_t columns = error_columns();
  return tinted(style(), Tint::faint,
                cut_to_columns(one_line(lines_.status(elapsed()), 2000),
                               columns > 1 ? columns - 1 : columns));
}

/// Prints the lines, and the status line below them, as one piece: nothing flickers.
void Progress::print(const std::vector<LogLine>& lines) {
  std::string text;
  const auto write_out = [&] {
    if (text.empty()) return;
    errors_.write(std::exchange(text, {}));
  };
  if (!lines.empty() && std::exchange(status_shown_, false)) text = kClear;
  for (const LogLine& line : lines) {
    if (line.kind == LogLine::Kind::text) {
      text += line.text + "\n";
      continue;
    }
    write_out();
    begin_group(line.text);
  }
  if (!lines.empty()) last_line_ = steady_clock::now();
  if (terminal_ && !done_ && errors_.keeps_up()) {
    text += "\r" + status_line() + "\x1b[K";
    status_shown_ = true;
  }
  write_out();
}

/// @param title  "" only ends the group before it
void Progress::begin_group(const std::string& title) {
  const auto now = static_cast<long long>(std::time(nullptr));
  if (std::exchange(in_group_, false)) errors_.write_commands(ci_log_.end_group(groups_, now));
  if (title.empty()) return;
  in_group_ = true;
  errors_.write_commands(ci_log_.begin_group(++groups_, title, now));
}

void Progress::say(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (!style_.quiet)
    print_line("sortie: " + one_line(redactor_.text(text, Audience::people), kMostOfLine));
}

void Progress::warn(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (!style_.quiet)
    print_line(tinted(style(), Tint::caution, "warning: ") +
               one_line(redactor_.text(text, Audience::people), kMostOfLine));
}

void Progress::print_lines(const std::vector<std::string>& lines) {
  const std::lock_guard lock(mutex_);
  if (style_.quiet) return;
  std::vector<LogLine> all;
  for (const auto& line : lines) all.push_back({line});
  print(all);
}

void Progress::on(const RunEvent& event) {
  const std::lock_guard lock(mutex_);
  if (style_.quiet) return;
  const auto lines = lines_.on(style(), event);
  if (!lines.empty() || terminal_) print(lines);
}

void Progress::on_output(const void* source, std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (style_.quiet || !style_.verbose || done_) return;
  if (const auto lines = lines_.on_output_text(style(), source, text); !lines.empty()) print(lines);
}

}  // namespace sortie
