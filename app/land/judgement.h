#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/land/landed_run.h"
#include "core/secrets/redact.h"
#include "core/workspace/apply/path_changes.h"
#include "core/workspace/diff/diff.h"
#include "core/workspace/diff/patch_text.h"
#include "policies/rules/policy.h"

namespace sortie {

/// Where the diff is judged.
struct LandPlace {
  std::filesystem::path workspace;  ///< that the policy's paths are relative to
  std::filesystem::path toplevel;   ///< that the diff's paths are relative to
  std::filesystem::path run;        ///< the run's folder: never changed by a diff
  /// Whether git tracks a path, relative to the workspace: `paths.hide` does not hide those.
  std::function<bool(const std::string& path)> tracked{};
};

/// Judges the paths that a diff names.
/// @throws Error  integrity: a protected path; denied: one that paths.write does not cover
void judge_paths(const std::vector<FilePatch>& patches, const Policy& policy,
                 const LandPlace& place);

/// The changes in other forms, with the bytes that the diff has.
struct LandedChange {
  TouchedFiles before;
  TouchedFiles after;
  PatchText patch;  ///< made from these, not the run's own text: nothing else can hide in it
};
LandedChange change_of(const std::vector<PathChange>& changes);

/// Judges what the diff makes.
/// @param redactor  knows the secrets of this machine
/// @return          what somebody should look at: new programs and links, attributes, what looks
///                  like a token
/// @throws Error  denied: a link that leads out of the tree or into its repository; task_failed:
///                beyond expect.diff, or limits.diff_file_size; leak: a known secret
std::vector<std::string> judge_change(const LandedChange& change, const LandedRun& run,
                                      const Policy& policy, const Redactor& redactor);

}  // namespace sortie
