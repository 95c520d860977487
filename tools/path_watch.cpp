#include "tools/path_watch.h"

#include <iterator>
#include <utility>

#include "core/text/text.h"

namespace sortie {

std::string PathWatch::changed_by_command() {
  if (!questions_.protected_changes) return "";
  const auto changed = questions_.protected_changes();
  if (changed.empty()) return "";
  std::string words = "a command changed protected paths:";
  for (const auto& path : changed) words += " " + one_line(path);
  return words;
}

PathWatch::Findings PathWatch::after_call(const ToolResult& result) {
  // A call that only reads created nothing, whatever appeared meanwhile.
  const bool worked = result.exit || result.worked_on_files;
  const bool wrote = worked || !result.changed_files.empty();
  const bool made = find_made() && worked;
  Findings found;
  const std::string led = wrote ? remark_on_redirected() : "";
  found.remarks = {remark_on_made(), led};
  if (!led.empty()) found.verdict = "protected_path_led_elsewhere";
  if (made) found.verdict = "protected_path_made";
  if (worked) found.ends_run = changed_by_command();
  if (wrote && questions_.touched_paths) found.touched = questions_.touched_paths();
  return found;
}

bool PathWatch::find_made() {
  if (!questions_.made_paths) return false;
  auto made = questions_.made_paths();
  const bool any = !made.empty();
  std::move(made.begin(), made.end(), std::back_inserter(made_));
  return any;
}

std::string PathWatch::remark_on_made() {
  if (made_.empty()) return "";
  return "removed again, since the policy protects these paths and nothing may create them: " +
         joined(std::exchange(made_, {}), ", ",
                [](const std::string& path) { return one_line(path); });
}

std::string PathWatch::remark_on_redirected() {
  if (!questions_.led_elsewhere) return "";
  const auto now = questions_.led_elsewhere();
  std::string names;
  for (const std::string& path : now)
    if (redirected_.count(path) == 0) names += (names.empty() ? "" : ", ") + one_line(path);
  redirected_ = {now.begin(), now.end()};
  if (names.empty()) return names;
  return "the policy protects these paths, and they now lead through a link to other content than "
         "at the start: " +
         names + ". Undo this: the run fails until you do";
}

}  // namespace sortie
