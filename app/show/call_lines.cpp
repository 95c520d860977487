#include "app/show/call_lines.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "app/show/event_items.h"
#include "core/base/error.h"
#include "core/json/json.h"
#include "core/text/display_width.h"
#include "core/text/shell_quote.h"
#include "core/text/text.h"

namespace sortie {
namespace {

/// Lines of output below a command that failed.
constexpr std::size_t kLastLines = 5;
constexpr std::string_view kNotRun = "Not run: ";
constexpr std::chrono::milliseconds kWorthTelling{50};

bool is_shell(std::string_view program) {
  program.remove_prefix(program.rfind('/') + 1);  // npos + 1 is 0
  return is_one_of(program, {"sh", "bash", "dash", "zsh"});
}

/// The commands of a call, "" if it has none.
std::string commands_text(const std::vector<RecordedAction>& actions) {
  std::string text;
  for (const RecordedAction& action : actions)
    if (action.argv && !action.argv->empty()) {
      const std::string one = pasteable(*action.argv);
      if (!text.ends_with(one)) text += (text.empty() ? "" : "; ") + one;
    }
  return text;
}

/// The paths of a call, or what it types into a command.
std::string details_text(const std::vector<RecordedAction>& actions) {
  std::string text;
  std::string last;
  for (const RecordedAction& action : actions) {
    if (action.input) text += " " + shell_line({*action.input});
    const std::string path = action.path.value_or("");
    if (path.empty() || path == last) continue;  // a path as named and where it leads: once
    last = path;
    text += " " + shell_line({path});
  }
  return text;
}

const char* word_of(Ruling ruling) { return ruling == Ruling::deny ? "denied" : "forbidden"; }

}  // namespace

std::string seconds_text(std::chrono::milliseconds duration) {
  if (duration < std::chrono::milliseconds(0)) return "unknown";
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  if (seconds >= 60)
    return std::to_string(seconds / 60) + " min " + std::to_string(seconds % 60) + " s";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(duration.count()) / 1000.0);
  return text;
}

std::string took_text(std::chrono::milliseconds duration) {
  return duration < std::chrono::milliseconds(0) ? "time unknown" : seconds_text(duration);
}

std::string verdict_of(const std::optional<ExitStatus>& exit, bool success) {
  if (!exit) return success ? "" : "failed";
  const std::string detail = exit->detail.empty() ? "" : ": " + exit->detail;
  switch (exit->ending) {
    case Ending::exited:
      // The command may succeed and print an invalid result.
      if (exit->code == 0) return success ? "" : "failed";
      if (exit->code < 0 || exit->code > 255) return "exit code unknown";
      return "exit " + std::to_string(exit->code);
    case Ending::signalled:
      return "signal " + words_of_count(exit->code);
    case Ending::timed_out:
      return "timed out";
    case Ending::cancelled:
      return "stopped";
    case Ending::not_started:
      return "not started" + detail;
    default:
      break;
  }
  std::string name = name_of(exit->ending);
  std::replace(name.begin(), name.end(), '_', ' ');
  return "killed, " + name + detail;
}

std::string pasteable(const std::vector<std::string>& argv) {
  const bool script = argv.size() == 3 && is_shell(argv[0]) && argv[1].starts_with('-') &&
                      argv[1].ends_with('c') && !argv[2].empty();
  return script ? argv[2] : shell_line(argv);
}

std::string first_line_of(std::string_view text, const Redactor& redactor) {
  text = trimmed(text);
  const std::size_t end = std::min(text.find('\n'), text.size());
  const auto more = std::count(text.begin() + static_cast<std::ptrdiff_t>(end), text.end(), '\n');
  std::string line = line_for_people(text.substr(0, end), redactor);
  if (more > 0) line += " … " + std::to_string(more) + (more == 1 ? " more line" : " more lines");
  return line;
}

std::vector<std::string> CallLines::on_approval(const LogStyle& style, int turn,
                                                const CallDecided& decided) {
  Call call{.id = decided.call_id, .what = decided.tool, .decision = decided.decision};
  // As a whole, before it is split: a secret may have several lines.
  const std::string command = redactor_.text(commands_text(decided.actions), Audience::people);
  if (command.empty()) {
    call.what = shown(decided.tool + details_text(decided.actions));
  } else {
    call.is_command = true;
    call.what = "$ " + first_line_of(command, redactor_);
    const std::size_t end = command.find('\n');
    if (end != std::string::npos) call.rest = command.substr(end + 1);
  }
  if (call.decision != Ruling::allow)
    call.reason = shown(decided.reason);
  else if (decided.audited)
    call.note = "audit: " + shown(decided.reason);
  else if (decided.approver)
    call.note = "approved";
  call.prints_live = call.is_command || decided.tool == "write_stdin";
  calls_.push_back(std::move(call));
  Call& added = calls_.back();
  if (!style.verbose || !added.is_command || added.decision != Ruling::allow) return {};
  added.begun = true;
  std::vector<std::string> lines =
      lines_of(style, {.mark = "[" + std::to_string(turn) + "] ", .text = added.what});
  for (auto& line : script_lines(style, added)) lines.push_back(std::move(line));
  return lines;
}

void CallLines::on_called(const ToolCalled& called) {
  if (called.call.name != "search_files") return;
  const auto found = std::find_if(calls_.begin(), calls_.end(),
                                  [&](const Call& call) { return call.id == called.call.call_id; });
  if (found == calls_.end()) return;
  Json arguments;
  try {
    arguments = parse_json(called.call.arguments);
  } catch (const Error&) {
    return;  // the call's output says what is wrong with them
  }
  if (!arguments.is_object()) return;
  std::string words = called.call.name;
  for (const char* name : {"pattern", "path", "glob"})
    if (const std::string value = arguments.string_at(name); !value.empty())
      words += " " + shell_line({value});
  found->what = first_line_of(redactor_.text(words, Audience::people), redactor_);
}

std::vector<std::string> CallLines::script_lines(const LogStyle& style, const Call& call) const {
  std::vector<std::string> lines;
  for (const auto line : split_lines(call.rest))
    lines.push_back("      " + tinted(style, Tint::plain, shown(line)));
  return lines;
}

void CallLines::output_was_shown() {
  for (Call& call : calls_) call.output_shown = call.output_shown || call.prints_live;
}

std::vector<std::string> CallLines::on_output(const LogStyle& style, int turn,
                                              const ToolOutputRecord& record) {
  const Call call = take(record);
  // The plan is shown by itself.
  if (record.tool == "update_plan" && record.success) return {};
  LogEntry entry = entry_of(style, call, record);
  entry.mark = "[" + std::to_string(turn) + "] ";
  std::vector<std::string> lines;
  const bool ran = call.decision == Ruling::allow && record.declined.empty();
  if (!call.begun && style.verbose && !call.rest.empty()) {
    lines = lines_of(style, entry);
    for (auto& line : script_lines(style, call)) lines.push_back(std::move(line));
  } else if (!call.begun) {
    lines = lines_of(style, entry);
  }
  const bool failed = record.exit && !record.exit->success();
  if (ran && !call.output_shown && (style.verbose || failed))
    for (auto& line : last_lines(style, record.output,
                                 style.verbose ? std::string::npos : kLastLines, redactor_))
      lines.push_back(std::move(line));
  if (call.begun) {
    const bool fine = entry.tint == Tint::faint;
    lines.push_back(tinted(style, Tint::faint, entry.mark) +
                    tinted(style, entry.tint, (fine ? "done: " : "") + entry.note));
  }
  return lines;
}

/// The call of the output; without a decision, a call with only its name.
CallLines::Call CallLines::take(const ToolOutputRecord& output) {
  const auto found = std::find_if(calls_.begin(), calls_.end(),
                                  [&](const Call& call) { return call.id == output.call_id; });
  if (found == calls_.end()) return {.id = {}, .what = shown(output.tool), .decision = {}};
  Call call = std::move(*found);
  calls_.erase(found);
  return call;
}

LogEntry CallLines::entry_of(const LogStyle& /*style*/, const Call& call,
                             const ToolOutputRecord& output) const {
  LogEntry entry{.mark = {}, .text = call.what};
  if (!call.decision) {
    // Invalid arguments, an unknown tool, or the run ended first.
    const std::string& why = output.output;
    entry.note = "not run";
    entry.tint = Tint::caution;
    entry.why = shown(why.starts_with(kNotRun) ? why.substr(kNotRun.size()) : why);
    return entry;
  }
  if (*call.decision != Ruling::allow) {
    entry.note = word_of(*call.decision);
    entry.tint = *call.decision == Ruling::deny ? Tint::caution : Tint::bad;
    entry.why = call.reason;
    return entry;
  }
  const std::string verdict = verdict_of(output.exit, output.success);
  if (!verdict.empty()) entry.tint = Tint::bad;
  if (!verdict.empty() && !output.exit) entry.why = first_line_of(output.output, redactor_);
  entry.note = verdict;
  const auto add = [&entry](const std::string& part) {
    if (!part.empty()) entry.note += (entry.note.empty() ? "" : ", ") + part;
  };
  add(call.note);
  if (!call.note.empty() && verdict.empty() && call.note.starts_with("audit"))
    entry.tint = Tint::caution;
  if (output.exit || (verdict.empty() && output.duration >= kWorthTelling))
    add(took_text(output.duration));
  return entry;
}

std::string CallLines::under_way() const {
  if (calls_.empty()) return {};
  const std::string& first = calls_.front().what;
  return calls_.size() == 1 ? first
                            : first + ", and " + std::to_string(calls_.size() - 1) + " more";
}

}  // namespace sortie
