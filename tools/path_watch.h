#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tools/tool.h"

namespace sortie {

/// Queries about the paths of the workspace. Each may be unset.
struct PathQuestions {
  /// Protected paths that have changed; a change ends the run.
  std::function<std::vector<std::string>()> protected_changes{};
  /// "A path", "M path", "D path" for each path touched since the last query.
  std::function<std::vector<std::string>()> touched_paths{};
  /// Protected names that were created, and removed by sortie, since the last query.
  std::function<std::vector<std::string>()> made_paths{};
  /// Protected names that now lead through links to another place than at the start.
  std::function<std::vector<std::string>()> led_elsewhere{};
};

/// Watches the protected paths around calls, and the paths that calls touch.
class PathWatch {
 public:
  explicit PathWatch(PathQuestions questions) : questions_(std::move(questions)) {}

  /// Call before each call: what was created earlier is not its doing. The next output still
  /// reports it.
  void before_call() { find_made(); }
  /// Why the run has to end, or "". Checked after each command, and before a call that has wider
  /// rights or belongs to another program.
  std::string changed_by_command();

  struct Findings {
    std::vector<std::string> remarks;  ///< for the model; "" for none
    std::string verdict;               ///< for the record; "" if the call is fine
    std::string ends_run;              ///< why the run has to end, or ""
    std::vector<std::string> touched;
  };
  Findings after_call(const ToolResult& result);

 private:
  bool find_made();
  std::string remark_on_made();
  std::string remark_on_redirected();

  PathQuestions questions_;
  std::vector<std::string> made_;     ///< removed, not yet reported to the model
  std::set<std::string> redirected_;  ///< reported to the model, and still so
};

}  // namespace sortie
