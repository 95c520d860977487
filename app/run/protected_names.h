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

/// A path of a diff, which is relative to the repository's toplevel, relative to the workspace.
std::filesystem::path path_in_workspace(const std::string& path_of_diff,
                                        const std::filesystem::path& workspace, const GitInfo& git);

/// Records that these protected paths were made by a command, and removed.
void record_made(RunRecord& record, const std::vector<std::string>& paths);

/// Guards the protected names of a run's tree: new files under them are removed and kept, changed ones
/// restored, and none may lead elsewhere than at the start.
class ProtectedNames {
 public:
  /// Everything in it outlives the object.
  struct Parts {
    const std::filesystem::path& root;        ///< the workspace's own folder; absolute
    const std::filesystem::path& seen_as;     ///< the tree's path for commands
    const std::vector<std::string>& protect;  ///< paths.protect
    const std::set<std::filesystem::path>& links_at_start;
    const Workspace& workspace;
    const DiskFiles& view;
    const GitInfo& git;
    MadePaths* made = nullptr;  ///< as Confinement::made_paths()
    bool in_place = false;      ///< the tree is the user's own
    bool mounted = true;        ///< mounts guard the paths that are there
    const std::filesystem::path& out;
    const Redactor& redactor;
    RunRecord& record;
    RunResult& result;
  };
  explicit ProtectedNames(const Parts& parts);
  ProtectedNames(const ProtectedNames&) = delete;
  ProtectedNames& operator=(const ProtectedNames&) = delete;

  /// From now on, files that are removed are kept in --out and recorded in the transcript and the
  /// result.
  void start_keeping();
  /// Removes what was made under protected names.
  void undo_made();
  /// Restores changed paths that no mount guards. @return  these paths
  std::vector<std::string> restore_changed();
  /// @param who  "a command", for the message
  /// @throws RunEnds  integrity: a path was changed, and has been restored
  void check_unchanged(const std::string& who);
  /// Protected names that lead through links elsewhere than at the start.
  std::vector<std::string> led_elsewhere();
  /// Checks the protected names at the end.
  /// @throws RunEnds  integrity
  void check(const Diff& diff);

 private:
  void keep(const std::filesystem::path& path);
  void check_taken(const Diff& diff) const;

  Parts parts_;
  std::unique_ptr<ProtectedPaths> paths_;    ///< if no mount guards them
  KeptAside aside_;                          ///< in the user's own tree
  std::optional<LinkLeads> leads_at_start_;  ///< once they are needed
  KeptFiles taken_;                          ///< files of protected names that were made
  std::set<std::int64_t> taken_empty_;       ///< times in ns of the empty files among these
};

}  // namespace sortie
