#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tools/tool.h"

namespace sortie {

/// What is asked about the paths of the workspace. Each may be unset.
struct PathQuestions {
  /// Protected paths that have changed. Any ends the run.
  std::function<std::vector<std::string>()> protected_changes{};
  /// "A path", "M path", "D path" of what was touched since it was asked last.
  std::function<std::vector<std::string>()> touched_paths{};
  /// Protected names that something has made, and that were removed since it was last asked.
  std::function<std::vector<std::string>()> made_paths{};
  /// Protected names that lead through links elsewhere than at the start, now.
  std::function<std::vector<std::string>()> led_elsewhere{};
};

/// Watches the protected paths around calls, and what calls touch.
class PathWatch {
 public:
  explicit PathWatch(PathQuestions questions) : questions_(std::move(questions)) {}

  /// Before a call: what was made meanwhile is none of its doing. The model is told with the next
  /// output all the same.
  void before_call() { look_for_made(); }
  /// Why the run has to end, "" where it has not: asked after each command, and before what has
  /// wider rights or is another program's.
  std::string changed_by_command();

  struct Findings {
    std::vector<std::string> remarks;  ///< for the model; "" for none
    std::string verdict;               ///< for the record; "" where the call did well
    std::string ends_run;              ///< why; "" where it goes on
    std::vector<std::string> touched;
  };
  Findings after_call(const ToolResult& result);

 private:
  bool look_for_made();
  std::string remark_on_made();
  std::string remark_on_led_elsewhere();

  PathQuestions questions_;
  std::vector<std::string> made_;        ///< removed, and not yet told to the model
  std::set<std::string> led_elsewhere_;  ///< told to the model, and still so
};

}  // namespace sortie
