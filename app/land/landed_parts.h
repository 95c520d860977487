#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/land/land_target.h"
#include "app/land/landed_run.h"
#include "core/git/git_repository.h"
#include "core/workspace/apply/path_changes.h"

namespace sortie {

/// A diff of a run with the repository that it is for: that of the landing, or a submodule of it.
struct LandedPart {
  std::string submodule;  ///< from the toplevel; "": the repository itself
  std::vector<FilePatch> patches;
  std::map<std::string, std::string> moved_ends{};  ///< as PlanOptions has them
  FoundRepository own{};                            ///< of a submodule

  std::string prefix() const { return submodule.empty() ? "" : submodule + "/"; }
};

/// The diff of the run first, then those of its submodules. What the run says of these is a
/// stranger's word: each has to be one of this repository, checked out, and no link.
/// @param run  outlives the parts
/// @throws Error  conflict: a submodule that is none here; integrity: a diff of another form;
///                environment: a repository that is refused
std::vector<LandedPart> parts_of_run(const LandedRun& run, const FoundRepository& repository);

/// All patches, with paths from the toplevel.
/// @throws Error  integrity: a diff changes what belongs to a submodule with another one
std::vector<FilePatch> all_patches(const std::vector<LandedPart>& parts);

struct LandPlanOptions {
  bool three_way = false;
  bool in_tree = true;  ///< not on a commit: files have the bytes of a work tree
};

/// Works out what a part makes of the target, with paths from the toplevel.
/// @param repository  of the landing
PlannedChanges plan_part(const LandedPart& part, const FoundRepository& repository,
                         const LandTarget& target, const LandPlanOptions& options);

}  // namespace sortie
