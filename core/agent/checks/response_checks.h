#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/model/model.h"
#include "core/task/task.h"

namespace sortie {

/// What a check has found in a response.
struct CheckHit {
  std::string check;     ///< "missing_paths", "dangerous_words"
  std::string saw;       ///< for people and the record
  std::string message;   ///< to the model, where it is sent back
  bool correct = false;  ///< it is to be sent back, as the task wants it
};

/// Looks at the words of each response before its calls are run (the task's `checks`).
class ResponseChecks {
 public:
  /// Whether a path is in the run's workspace, or can't be said not to be.
  using MayExist = std::function<bool(const std::string& path)>;

  /// @param look_around  a look at the workspace as it is now; asked once a response at most
  ResponseChecks(const TaskChecks& checks, std::function<MayExist()> look_around)
      : checks_(checks), look_around_(std::move(look_around)) {}

  /// At most one hit a check. Of a long text the beginning and the end are looked at, 32 KiB each.
  std::vector<CheckHit> look_at(const Response& response) const;

 private:
  std::vector<std::string> missing_paths(const std::string& text, const Response& response) const;

  TaskChecks checks_;
  std::function<MayExist()> look_around_;
};

}  // namespace sortie
