#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/model/model.h"
#include "core/task/task.h"

namespace sortie {

/// A problem that a check found in a response.
struct CheckHit {
  std::string check;     ///< "missing_paths", "dangerous_words"
  std::string saw;       ///< for people and the record
  std::string message;   ///< a correction for the model
  bool correct = false;  ///< the task wants the correction to be sent
};

/// Checks the text of each response before its calls are run (the task's `checks`).
class ResponseChecks {
 public:
  /// Whether a path exists, or may exist, in the run's workspace.
  using MayExist = std::function<bool(const std::string& path)>;

  /// @param lookup  looks into the current workspace; called at most once a response
  ResponseChecks(const TaskChecks& checks, std::function<MayExist()> lookup)
      : checks_(checks), lookup_(std::move(lookup)) {}

  /// At most one hit a check. Only the first and the last 32 KiB of a long text are checked.
  std::vector<CheckHit> check(const Response& response) const;

 private:
  std::vector<std::string> missing_paths(const std::string& text, const Response& response) const;

  TaskChecks checks_;
  std::function<MayExist()> lookup_;
};

}  // namespace sortie
