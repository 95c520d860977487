#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "core/base/threads.h"
#include "core/record/events.h"
#include "core/workspace/diff/diff.h"
#include "core/workspace/workspace.h"
#include "tools/plain_tools.h"

namespace sortie {

/// What an agent and its tools can ask about the tree while they work on it.
class WorkSoFar {
 public:
  virtual ~WorkSoFar() = default;
  /// The run's diff as it is now.
  /// @param only  the path to look at, "" for all
  virtual Diff draft(const std::string& only, const CancelCheck& check_cancel) = 0;
  /// The same, by name alone.
  virtual std::vector<ChangedPath> changed_paths() = 0;
  /// "A path", "M path", "D path" for paths touched since the last call.
  virtual std::vector<std::string> touched_paths() = 0;
  /// The changes behind these lines, for the record. Called once after each call that changed
  /// something.
  /// @param by_other_program  a server of tools, or a session that goes on, made them: a replay may
  ///                          not make them again
  virtual std::vector<FileChange> file_changes(const std::vector<std::string>& touched,
                                               bool by_other_program) = 0;
  /// Those of them that have exactly the size that files may have (limits.file_size).
  virtual std::vector<std::string> files_at_limit() = 0;
  /// Protected names that lead through links elsewhere than at the start.
  virtual std::vector<std::string> led_elsewhere() = 0;
  /// Restores changed protected paths that no mount guards. @return  these paths
  virtual std::vector<std::string> restore_protected() = 0;
};

/// The task's verification, for a model that asks for it.
class OwnTests {
 public:
  virtual ~OwnTests() = default;
  virtual RunTests::Outcome run_tests(std::stop_token stop) = 0;
};

/// Programs that keep running between an agent's calls.
class Background {
 public:
  virtual ~Background() = default;
  /// Ends them. @return  their number
  virtual int end_background() = 0;
};

/// Takes lines for the operator.
class Notices {
 public:
  virtual ~Notices() = default;
  virtual void say(const std::string& line) = 0;
  /// Shown even with --quiet, and kept in result.json.
  virtual void warn(const std::string& line) = 0;
};

}  // namespace sortie
