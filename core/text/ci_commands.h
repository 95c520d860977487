#pragma once

#include <string>
#include <string_view>

namespace sortie {

/// The CI systems whose log may be what sortie prints into: each of them obeys some lines of it.
struct CiSystems {
  bool github = false;    ///< GITHUB_ACTIONS, GITEA_ACTIONS, FORGEJO_ACTIONS
  bool gitlab = false;    ///< GITLAB_CI
  bool azure = false;     ///< TF_BUILD
  bool teamcity = false;  ///< TEAMCITY_VERSION

  bool any() const { return github || gitlab || azure || teamcity; }
};

/// Those that this process' environment names.
CiSystems ci_systems();

/// Makes the commands harmless that a CI system would read out of a text, by a blank inside their
/// sign: `: :set-env`, `## [error]`, `##vso [`, `##teamcity [`, `section_start :`. All else stays.
///
/// Read are, with whatever invisible bytes or bytes beyond ASCII between their letters:
///  - GitHub: "::" where nothing but blanks stands before it in its line (lines end at LF and CR),
///    and "##[" anywhere (actions/runner, ActionCommand.cs)
///  - Azure: "##vso[" and "##[" anywhere (azure-pipelines-agent, Command.cs)
///  - TeamCity: "##teamcity[" anywhere
///  - GitLab: "section_start:" and "section_end:" anywhere (docs.gitlab.com, job logs)
class CiCommandFilter {
 public:
  explicit CiCommandFilter(CiSystems systems) : systems_(systems) {}
  /// The next piece of the text. Nothing is held back.
  std::string feed(std::string_view piece);
  /// The same for a JSON text, whose value stays: the sign's last character is escaped.
  static std::string json(std::string_view text, CiSystems systems);

 private:
  bool completes_sign(char c);

  CiSystems systems_;
  std::string word_;    ///< the visible ASCII characters just before, no more than a sign has
  bool begun_ = false;  ///< a visible ASCII character stands in the line
  bool colon_ = false;  ///< it is one ":", and nothing behind it
};

/// A whole text.
std::string without_ci_commands(std::string_view text, CiSystems systems);

}  // namespace sortie
