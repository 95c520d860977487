#pragma once

#include <string>
#include <vector>

#include "core/workspace/apply/path_changes.h"

namespace sortie {

/// What a diff is landed on.
class LandTarget {
 public:
  virtual ~LandTarget() = default;
  /// What is at a path, relative to the repository's toplevel.
  virtual PresentEntry present(const std::string& path) const = 0;
  /// Makes the changes, all or none. They are undone unless settle() is called.
  /// @param message  of a commit
  /// @return         the new commit's id; "" if none is made
  /// @throws Error   conflict, environment: nothing is changed
  virtual std::string land(const std::vector<PathChange>& changes, const std::string& message) = 0;
  /// @throws Error   conflict, environment: nothing is changed
  virtual void settle() = 0;
  /// The name of the branch, or "".
  virtual std::string branch() const = 0;
  /// The commit that the changes are for; "" for none.
  virtual std::string commit() const = 0;
};

}  // namespace sortie
