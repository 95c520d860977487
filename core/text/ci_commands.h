#pragma once

#include <string>
#include <string_view>

namespace sortie {

/// The CI systems that may read sortie's output as their log, and run the commands in it.
struct CiSystems {
  bool github = false;    ///< GITHUB_ACTIONS, GITEA_ACTIONS, FORGEJO_ACTIONS
  bool gitlab = false;    ///< GITLAB_CI
  bool azure = false;     ///< TF_BUILD
  bool teamcity = false;  ///< TEAMCITY_VERSION

  bool any() const { return github || gitlab || azure || teamcity; }
};

/// The CI systems according to this process's environment.
CiSystems ci_systems();

/// Disables the commands of CI systems in a text by a blank inside their marker: `: :set-env`,
/// `## [error]`, `##vso [`, `##teamcity [`, `section_start :`. All other text is unchanged.
///
/// These are recognised, also with invisible or non-ASCII bytes between their characters:
///  - GitHub: "::" after nothing but blanks in its line (lines end at LF and CR), and "##["
///  anywhere
///    (actions/runner, ActionCommand.cs)
///  - Azure: "##vso[" and "##[" anywhere (azure-pipelines-agent, Command.cs)
///  - TeamCity: "##teamcity[" anywhere
///  - GitLab: "section_start:" and "section_end:" anywhere (docs.gitlab.com, job logs)
class CiCommandFilter {
 public:
  explicit CiCommandFilter(CiSystems systems) : systems_(systems) {}
  /// Filters the next piece of the text. Nothing is held back.
  std::string feed(std::string_view piece);
  /// The same for a JSON text, whose value is unchanged: the marker's last character is escaped.
  static std::string json(std::string_view text, CiSystems systems);

 private:
  bool completes_sign(char c);

  CiSystems systems_;
  std::string word_;    ///< the last visible ASCII characters, as many as a marker has
  bool begun_ = false;  ///< the line has a visible ASCII character
  bool colon_ = false;  ///< the line is just ":" so far
};

/// Filters a whole text.
std::string without_ci_commands(std::string_view text, CiSystems systems);

}  // namespace sortie
