#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/text/glob_list.h"
#include "policies/rules/decision.h"
#include "policies/rules/policy.h"

namespace sortie {

/// What PathRules needs besides the policy; all paths absolute.
struct PathPlaces {
  std::filesystem::path workspace;
  std::filesystem::path out;                           ///< protected if inside the workspace
  std::vector<std::filesystem::path> protected_files;  ///< the task's and the policy's own
  std::filesystem::path home;                          ///< "~"; empty: any folder
  /// Whether git tracks a path, given relative to the workspace: `paths.hide` does not hide tracked
  /// files of the workspace. Not set: nothing is tracked.
  std::function<bool(const std::string& path)> tracked{};
};

/// The `paths` rules of a policy. Compares texts: the caller has resolved links. Paths are relative
/// to the workspace, or absolute.
class PathRules {
 public:
  /// @throws PatternError
  PathRules(const Policy& policy, PathPlaces places);

  Decision decide_read(const std::filesystem::path& path) const;
  Decision decide_write(const std::filesystem::path& path) const;
  /// Never writable: .git, .sortie-apply, --out and the run before in `OUT.prev`, files of task and policy,
  /// and `paths.protect`; also paths that don't exist yet, and in any letter case, since a file
  /// system may treat .GIT as .git.
  bool is_protected(const std::filesystem::path& path) const;
  bool is_hidden(const std::filesystem::path& path) const;

 private:
  /// One path in the forms that rules compare: absolute, and relative if it is inside.
  struct Place {
    std::string absolute;
    std::string relative;  ///< "." for the workspace itself
    bool inside = false;
  };
  /// The globs of one list: those for the workspace, and absolute ones.
  struct Globs {
    GlobList relative;
    GlobList absolute;
    GlobList anywhere;  ///< absolute, made from a relative one
    bool match(const Place& place) const;
  };
  static Globs compile(const std::vector<std::string>& globs, const PathPlaces& places,
                       LetterCase letters = LetterCase::exact);
  Place place_of(const std::filesystem::path& path) const;
  bool protects(const Place& place) const;
  bool hides(const Place& place) const;

  PathPlaces places_;
  SandboxMode mode_;
  Globs write_;
  Globs read_;
  Globs hide_;
  Globs protect_;
};

}  // namespace sortie
