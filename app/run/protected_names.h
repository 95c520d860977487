#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/artifacts/kept_files.h"
#include "app/confinement/protected_links.h"
#include "app/confinement/protected_paths.h"
#include "app/run/run_record.h"
#include "ci/result.h"
#include "core/files/files.h"
#include "core/git/git_info.h"
#include "core/secrets/redact.h"
#include "core/workspace/diff/diff.h"
#include "core/workspace/workspace.h"
#include "policies/sandbox/view/made_paths.h"

namespace sortie {

/// Where a path of a diff lies in the workspace: a diff's paths begin at the repository's toplevel.
std::filesystem::path path_in_workspace(const std::string& path_of_diff,
                                        const std::filesystem::path& workspace, const GitInfo& git);

/// The protected names of a run's tree: what is made under them is taken away and kept, what is
/// changed is put back, and none may lead elsewhere than at the start.
class ProtectedNames {
 public:
  /// All of it outlives the object.
  struct Parts {
    const std::filesystem::path& root;        ///< the workspace's own folder; absolute
    const std::filesystem::path& seen_as;     ///< where commands find the tree
    const std::vector<std::string>& protect;  ///< paths.protect
    const std::set<std::filesystem::path>& links_at_start;
    const Workspace& workspace;
    const DiskFiles& view;
    const GitInfo& git;
    MadePaths* made = nullptr;  ///< as Confinement::made_paths()
    bool mounted = true;        ///< mounts guard the paths that are there
    const std::filesystem::path& out;
    const Redactor& redactor;
    RunRecord& record;
    RunResult& result;
  };
  explicit ProtectedNames(const Parts& parts);
  ProtectedNames(const ProtectedNames&) = delete;
  ProtectedNames& operator=(const ProtectedNames&) = delete;

  /// From here on what is taken away is kept in --out, on record and in the result as it happens,
  /// whoever made it.
  void tell();
  /// What something made under a protected name is gone before anything is judged.
  void undo_made();
  /// Puts back what was changed, where no mount guards it. @return  these paths
  std::vector<std::string> restore_changed();
  /// @param who  "a command", for the sentence
  /// @throws RunEnds  integrity: a path was changed, and is put back
  void check_unchanged(const std::string& who);
  /// Of the protected names, those that lead through links elsewhere than at the start.
  std::vector<std::string> led_elsewhere();
  /// What must hold of them at the end.
  /// @throws RunEnds  integrity
  void check(const Diff& diff);

 private:
  void keep(const std::filesystem::path& path);
  void check_taken(const Diff& diff) const;

  Parts parts_;
  std::unique_ptr<ProtectedPaths> paths_;    ///< where no mount guards them
  std::optional<LinkLeads> leads_at_start_;  ///< once they are asked for
  KeptFiles taken_;                          ///< what stood under protected names that were made
  std::set<std::int64_t> taken_empty_;       ///< ns: when empty files among these were written
};

}  // namespace sortie
