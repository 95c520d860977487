#include "app/land/landed_parts.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/path_below.h"
#include "core/git/submodules.h"
#include "core/workspace/apply/tree_conversion.h"
#include "core/workspace/apply/tree_path.h"

namespace sortie {
namespace {

/// What a file was when the run began, if the repository has it.
std::optional<std::string> base_content(git_repository& repository, const std::string& id) {
  git_oid oid;
  GitBlob blob;
  if (git_oid_fromstr(&oid, id.c_str()) != 0 ||
      git_blob_lookup(GitOut(blob), &repository, &oid) != 0)
    return std::nullopt;
  return blob_text(blob);
}

FoundRepository open_submodule(const std::string& path, const FoundRepository& repository,
                               const std::vector<Submodule>& known) {
  if (!path_problem(path).empty())
    throw Error("a submodule of the run has the path " + path_text(path) + ", which is none",
                ExitCode::integrity);
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const Submodule& one) { return one.path == path; });
  if (found != known.end() && !found->refused.empty())
    throw Error(
        "the repository of the submodule " + path_text(path) + " is not used: " + found->refused,
        ExitCode::environment);
  if (found == known.end() || !found->checked_out)
    throw Error(
        "the run changed the submodule " + path_text(path) + ", which " +
            (found == known.end() ? "this repository does not have" : "is not checked out here") +
            "; nothing was changed",
        ExitCode::conflict);
  return find_repository(repository.toplevel / path);
}

/// Otherwise two diffs could make one file, and what is judged be another one than what is written.
void check_belongs(const std::string& path, const LandedPart& part,
                   const std::vector<LandedPart>& parts) {
  for (const LandedPart& other : parts)
    if (!other.submodule.empty() && &other != &part && is_below(path, other.submodule) &&
        other.submodule.size() > part.submodule.size())
      throw Error(path_text(path) + " is in the submodule " + path_text(other.submodule) +
                      ", which has a diff of its own",
                  ExitCode::integrity);
}

void put_prefix(std::string& path, const std::string& prefix) {
  if (!path.empty()) path = prefix + path;
}

}  // namespace

std::vector<LandedPart> parts_of_run(const LandedRun& run, const FoundRepository& repository) {
  std::vector<LandedPart> parts;
  parts.push_back(
      {.submodule = {}, .patches = read_patches(run.diff), .moved_ends = run.moved_ends});
  if (run.submodules.empty()) return parts;
  const std::vector<Submodule> known = find_submodules(repository.toplevel);
  for (const LandedRun::Submodule& one : run.submodules)
    parts.push_back({.submodule = one.path,
                     .patches = read_patches(one.diff),
                     .moved_ends = one.moved_ends,
                     .own = open_submodule(one.path, repository, known)});
  return parts;
}

std::vector<FilePatch> all_patches(const std::vector<LandedPart>& parts) {
  std::vector<FilePatch> all;
  for (const LandedPart& part : parts)
    for (FilePatch patch : part.patches) {
      put_prefix(patch.header.old_path, part.prefix());
      put_prefix(patch.header.new_path, part.prefix());
      check_belongs(patch.header.old_path, part, parts);
      check_belongs(patch.header.new_path, part, parts);
      all.push_back(std::move(patch));
    }
  return all;
}

PlannedChanges plan_part(const LandedPart& part, const FoundRepository& repository,
                         const LandTarget& target, const LandPlanOptions& options) {
  const FoundRepository& own = part.submodule.empty() ? repository : part.own;
  const std::string prefix = part.prefix();
  PlanOptions plan{.moved_ends = part.moved_ends};
  if (options.three_way)
    plan.base = [&own](const std::string& id) { return base_content(*own.handle, id); };
  if (options.in_tree) plan.conversion = conversion_of(own);
  PlannedChanges planned = plan_changes(
      part.patches, [&](const std::string& path) { return target.present(prefix + path); }, plan);
  for (PathChange& change : planned.changes) change.path = prefix + change.path;
  for (std::string& conflict : planned.conflicts) conflict = prefix + conflict;
  return planned;
}

}  // namespace sortie
