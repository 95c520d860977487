#include "app/show/call_lines.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kLineBytes = 200;
/// Redacted for a line, which is shorter: a secret at the line's end must be seen whole.
constexpr std::size_t kRedactedBytes = 64u << 10;
constexpr std::string_view kNotRun = "Not run: ";

/// The argv of a call's commands, else its paths, else "".
std::string describe_actions(const std::vector<RecordedAction>& actions) {
  std::string text;
  std::string last;
  for (const RecordedAction& action : actions) {
    std::string one;
    if (action.argv)
      for (const auto& word : *action.argv) one += (one.empty() ? "" : " ") + word;
    if (one.empty()) one = action.path.value_or("");
    if (one.empty() || one == last) continue;  // a path as named and where it leads: once
    last = one;
    text += (text.empty() ? "" : ", ") + one;
  }
  return text;
}

}  // namespace

std::string seconds_text(std::chrono::milliseconds duration) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(duration.count()) / 1000.0);
  return text;
}

std::string describe_exit(const std::optional<ExitStatus>& exit, bool success) {
  if (!exit) return success ? "ok" : "failed";
  if (exit->ending == Ending::signalled) return "signal " + std::to_string(exit->code);
  if (exit->ending != Ending::exited) return name_of(exit->ending);
  // The command may succeed and print an invalid result.
  return "exit " + std::to_string(exit->code) + (exit->code == 0 && !success ? ", failed" : "");
}

std::string line_for_people(std::string_view text, const Redactor& redactor) {
  return one_line(redactor.text(std::string(utf8_prefix(text, kRedactedBytes)), Audience::people),
                  kLineBytes);
}

std::string CallLines::shown(std::string_view text) const {
  return line_for_people(text, redactor_);
}

void CallLines::on_approval(const CallDecided& decided) {
  Call call{.id = decided.call_id, .what = decided.tool, .decision = decided.decision};
  const std::string what = describe_actions(decided.actions);
  if (!what.empty()) call.what += " " + what;
  call.what = shown(call.what);
  if (call.decision != Ruling::allow)
    call.reason = shown(decided.reason);
  else if (decided.audited)
    call.note = " (audit: " + shown(decided.reason) + ")";
  else if (decided.approver)
    call.note = " (approver)";
  calls_.push_back(std::move(call));
}

std::vector<std::string> CallLines::on_output(int turn, const ToolOutputRecord& record) {
  std::vector<std::string> lines;
  lines.push_back("[" + std::to_string(turn) + "] " + line_of(take(record), record));
  if (!options_.outputs) return lines;
  // As a whole: a private key is one secret of many lines.
  const std::string output = redactor_.text(record.output, Audience::people);
  for (const auto line : split_lines(output)) lines.push_back("    " + one_line(line, kLineBytes));
  return lines;
}

/// The call of the output; without a decision, a call with only its name.
CallLines::Call CallLines::take(const ToolOutputRecord& output) {
  const auto found = std::find_if(calls_.begin(), calls_.end(),
                                  [&](const Call& call) { return call.id == output.call_id; });
  if (found == calls_.end()) return {.what = shown(output.tool)};
  Call call = std::move(*found);
  calls_.erase(found);
  return call;
}

std::string CallLines::line_of(const Call& call, const ToolOutputRecord& output) const {
  if (!call.decision) {
    // Invalid arguments, an unknown tool, or the run ended first.
    const std::string& why = output.output;
    return call.what + ": not run, " +
           shown(why.starts_with(kNotRun) ? why.substr(kNotRun.size()) : why);
  }
  const std::string decision = name_of(*call.decision);
  if (*call.decision != Ruling::allow)
    return call.what + ": " + (options_.colors ? "\x1b[33m" + decision + "\x1b[0m" : decision) +
           ", " + call.reason;
  return call.what + ": allow" + call.note + ", " + describe_exit(output.exit, output.success) +
         ", " + seconds_text(output.duration);
}

std::string CallLines::under_way() const {
  if (calls_.empty()) return {};
  const std::string& first = calls_.front().what;
  return calls_.size() == 1 ? first
                            : first + ", and " + std::to_string(calls_.size() - 1) + " more";
}

}  // namespace sortie
