#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace sortie {

// The names in --out of the diffs that a run leaves: of a success `changes.diff`, and
// `submodules/PATH.diff` for each submodule; of any other end `partial.diff`, and
// `partial-submodules/PATH.diff`.

inline constexpr const char* kChangesDiff = "changes.diff";
inline constexpr const char* kPartialDiff = "partial.diff";
/// The folders of the diffs of submodules.
inline constexpr const char* kSubmoduleDiffs = "submodules";
inline constexpr const char* kPartialSubmoduleDiffs = "partial-submodules";

/// "submodules/libs/a.diff" for "changes.diff" and "libs/a".
/// @param submodule  "": the name itself is returned
std::string diff_name(const std::string& main, const std::string& submodule);

/// The submodule of such a name, as the name says it: "libs/a"; "" for any other name.
std::string submodule_of_diff(const std::string& name);

bool is_diff_name(const std::string& name);

/// The folder that a diff is about: the workspace, or a submodule of it.
std::filesystem::path place_of(const std::string& submodule,
                               const std::filesystem::path& workspace);

/// The digest of all diffs of a run, for one that has diffs of submodules: that of the lines which
/// sha256sum(1) prints for them, sorted by name. Else that of `changes.diff`.
/// @param digests  "sha256:…" or hex, by name; what is no diff of a success does not count
/// @return         "sha256:…"; "" if there is no changes.diff
std::string digest_of_diffs(const std::map<std::string, std::string>& digests);

}  // namespace sortie
