#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "core/base/threads.h"
#include "core/workspace/diff/diff.h"
#include "core/workspace/workspace.h"
#include "tools/plain_tools.h"

namespace sortie {

/// What an agent and its tools learn of the tree while they work on it.
class WorkSoFar {
 public:
  virtual ~WorkSoFar() = default;
  /// The run's diff as it is now.
  /// @param only  the path to look at, "" for all
  virtual Diff draft(const std::string& only, const CancelCheck& pace) = 0;
  /// The same, by name alone.
  virtual std::vector<ChangedPath> changed_paths() = 0;
  /// "A path", "M path", "D path" of what was touched since it was asked last.
  virtual std::vector<std::string> touched_paths() = 0;
  /// Protected names that lead through links elsewhere than at the start.
  virtual std::vector<std::string> led_elsewhere() = 0;
  /// Puts back the protected paths that were changed, where no mount guards them. @return  these
  virtual std::vector<std::string> restore_protected() = 0;
};

/// The task's verification, for a model that asks for it.
class OwnTests {
 public:
  virtual ~OwnTests() = default;
  virtual RunTests::Outcome run_tests(std::stop_token stop) = 0;
};

/// What runs on between an agent's calls.
class Background {
 public:
  virtual ~Background() = default;
  /// Ends it. @return  how many programs that were
  virtual int end_background() = 0;
};

/// Takes lines for the operator.
class Notices {
 public:
  virtual ~Notices() = default;
  virtual void say(const std::string& line) = 0;
  /// Shown also where quiet was asked for, and kept in result.json.
  virtual void warn(const std::string& line) = 0;
};

}  // namespace sortie
