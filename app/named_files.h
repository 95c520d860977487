#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/task/file_judge.h"
#include "policies/policy.h"

namespace sortie {

/// Judges the files that a task or a prompt names, which sortie itself reads, unconfined, before
/// the run: by where they lead, all links resolved.
class NamedFiles {
 public:
  /// @param workspace  absolute, links resolved; what `paths` of the policy are relative to
  NamedFiles(const Policy& policy, std::filesystem::path workspace);

  /// Why a file may not be read; "" where it may: it lies in the policy's `paths.read` or in one
  /// of the task's own folders, and `paths.hide` does not hide it.
  /// @param own  none: only `paths.read` counts
  std::string problem(const std::filesystem::path& file,
                      const std::vector<std::filesystem::path>& own = {}) const;

 private:
  const Policy& policy_;
  std::filesystem::path workspace_;
  std::filesystem::path home_;
};

}  // namespace sortie
