#include "ci/report/call_words.h"

#include <algorithm>
#include <cstdio>

#include "ci/report/excerpt.h"
#include "core/text/display_width.h"
#include "core/text/shell_quote.h"
#include "core/text/text.h"

namespace sortie {
namespace {

/// A script as it was sent, without the shell that runs it.
std::string command_words(const std::vector<std::string>& argv) {
  const bool script = argv.size() == 3 && (argv[0] == "sh" || argv[0] == "bash") &&
                      argv[1].starts_with('-') && argv[1].ends_with('c');
  return script ? words_of_command(argv[2]) : shell_line(argv);
}

}  // namespace

std::string words_of_command(std::string_view command) {
  const std::string_view text = trimmed(command);
  const std::size_t end = std::min(text.find('\n'), text.size());
  const auto more = std::count(text.begin() + static_cast<std::ptrdiff_t>(end), text.end(), '\n');
  const std::string line = visible_line(text.substr(0, end));
  if (more == 0) return line;
  return line + " … " + std::to_string(more) + (more == 1 ? " more line" : " more lines");
}

std::string words_of_actions(const std::vector<RecordedAction>& actions, const std::string& tool) {
  std::vector<std::string> parts;
  const auto add = [&parts](const std::string& part) {
    if (!part.empty() && !is_one_of(part, parts)) parts.push_back(part);
  };
  for (const RecordedAction& action : actions) {
    if (action.argv && !action.argv->empty()) add(command_words(*action.argv));
    if (action.input) add(shell_line({*action.input}));
    if (action.path) add(*action.path);
    if (!action.argv && !action.path && action.name && *action.name != tool) add(*action.name);
  }
  return visible_line(joined(parts, "; "));
}

std::string words_of_ending(const std::optional<ExitStatus>& exit, bool success) {
  if (!exit) return success ? "" : "failed";
  if (exit->ending == Ending::exited && exit->code == 0) return success ? "" : "failed";
  if (exit->ending == Ending::exited && (exit->code < 0 || exit->code > 255))
    return "exit code unknown";
  if (exit->ending == Ending::exited) return "exit " + std::to_string(exit->code);
  if (exit->ending == Ending::signalled) return "signal " + words_of_count(exit->code);
  std::string words = name_of(exit->ending);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words + (exit->detail.empty() ? "" : ": " + visible_line(exit->detail));
}

std::string words_of_rule(const std::optional<RecordedRule>& rule) {
  if (!rule) return {};
  return visible_line(rule->file + (rule->line > 0 ? ":" + std::to_string(rule->line) : "") + ": " +
                      rule->text);
}

std::string words_of_time(std::chrono::milliseconds time) {
  if (time < std::chrono::milliseconds(0)) return "unknown";
  const auto seconds = time.count() / 1000;
  if (seconds >= 60)
    return std::to_string(seconds / 60) + " min " + std::to_string(seconds % 60) + " s";
  return std::to_string(seconds) + "." + std::to_string(time.count() / 100 % 10) + " s";
}

std::string words_of_duration(std::chrono::milliseconds time) {
  return time < std::chrono::milliseconds(0) ? "time unknown" : words_of_time(time);
}

}  // namespace sortie
