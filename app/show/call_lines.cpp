#include "app/show/call_lines.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kLineBytes = 200;
/// Looked at for what a line shows: a secret that begins before its end has to be seen whole.
constexpr std::size_t kLookedAtBytes = 64u << 10;
constexpr std::string_view kNotRun = "Not run: ";

/// What a call is about: the argv of its commands, else its paths, else nothing.
std::string describe_actions(const Json& actions) {
  std::string text;
  std::string last;
  for (const auto& action : actions.items()) {
    std::string one;
    for (const auto& word : action["argv"].items()) one += (one.empty() ? "" : " ") + word.text();
    if (one.empty()) one = action.string_at("path");
    if (one.empty() || one == last) continue;  // a path as named and where it leads: once
    last = one;
    text += (text.empty() ? "" : ", ") + one;
  }
  return text;
}

}  // namespace

std::string seconds_text(std::int64_t milliseconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(milliseconds) / 1000.0);
  return text;
}

std::string describe_exit(const Json& output) {
  const Json& exit = output["exit"];
  const std::string ending = exit.string_at("ending");
  const bool success = output["success"].boolean(true);
  if (ending.empty()) return success ? "ok" : "failed";
  if (ending == "signalled") return "signal " + std::to_string(exit.integer_at("code"));
  if (ending != "exited") return ending;
  const std::int64_t code = exit.integer_at("code");
  // What was printed may be no result although the command ended well.
  return "exit " + std::to_string(code) + (code == 0 && !success ? ", failed" : "");
}

std::string line_for_people(std::string_view text, const Redactor& redactor) {
  return one_line(redactor.text(std::string(utf8_prefix(text, kLookedAtBytes)), Audience::people),
                  kLineBytes);
}

std::string CallLines::shown(std::string_view text) const {
  return line_for_people(text, redactor_);
}

void CallLines::on_approval(const Json& data) {
  Call call{.id = data.string_at("call_id"),
            .what = data.string_at("tool"),
            .decision = data.string_at("decision")};
  const std::string what = describe_actions(data["actions"]);
  if (!what.empty()) call.what += " " + what;
  call.what = shown(call.what);
  const std::string reason = data.string_at("reason");
  if (call.decision != "allow")
    call.reason = shown(reason);
  else if (data["audited"].boolean())
    call.note = " (audit: " + shown(reason) + ")";
  else if (data["approver"].is_object())
    call.note = " (approver)";
  calls_.push_back(std::move(call));
}

std::vector<std::string> CallLines::on_output(const RunEvent& event) {
  const Json& data = event.data;
  std::vector<std::string> lines;
  lines.push_back("[" + std::to_string(event.turn) + "] " + line_of(take(data), data));
  if (!options_.outputs) return lines;
  // As a whole: a private key is one secret of many lines.
  const std::string output = redactor_.text(data.string_at("output"), Audience::people);
  for (const auto line : split_lines(output)) lines.push_back("    " + one_line(line, kLineBytes));
  return lines;
}

/// The call that the output is of; where nothing was decided on it, one with its name alone.
CallLines::Call CallLines::take(const Json& output) {
  const auto found = std::find_if(calls_.begin(), calls_.end(), [&](const Call& call) {
    return call.id == output.string_at("call_id");
  });
  if (found == calls_.end()) return {.what = shown(output.string_at("tool"))};
  Call call = std::move(*found);
  calls_.erase(found);
  return call;
}

std::string CallLines::line_of(const Call& call, const Json& output) const {
  if (call.decision.empty()) {
    // Its arguments do not fit, there is no such tool, or the run has ended before it.
    const std::string why = output.string_at("output");
    return call.what + ": not run, " +
           shown(why.starts_with(kNotRun) ? why.substr(kNotRun.size()) : why);
  }
  if (call.decision != "allow")
    return call.what + ": " +
           (options_.colors ? "\x1b[33m" + call.decision + "\x1b[0m" : call.decision) + ", " +
           call.reason;
  return call.what + ": allow" + call.note + ", " + describe_exit(output) + ", " +
         seconds_text(output.integer_at("duration_ms"));
}

std::string CallLines::under_way() const {
  if (calls_.empty()) return {};
  const std::string& first = calls_.front().what;
  return calls_.size() == 1 ? first
                            : first + ", and " + std::to_string(calls_.size() - 1) + " beside it";
}

}  // namespace sortie
