#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/init/first_model.h"
#include "core/base/spelling.h"

namespace sortie {

/// The CI system that a workflow is made for.
enum class CiSystem { github, gitlab, jenkins, none };
template <>
inline constexpr auto kSpelling<CiSystem> =
    std::to_array<Spelled<CiSystem>>({{CiSystem::github, "github"},
                                      {CiSystem::gitlab, "gitlab"},
                                      {CiSystem::jenkins, "jenkins"},
                                      {CiSystem::none, "none"}});

/// A file that `sortie init` makes.
struct InitFile {
  std::filesystem::path path;  ///< below the repository's top
  std::string content;
  std::string purpose{};  ///< for people
  bool program = false;   ///< executable
  bool extends = false;   ///< its content begins with what the file has now
};

struct CiChoice {
  CiSystem system = CiSystem::none;
  std::string why;  ///< for people: "the repository has .github"
};

/// The system that a repository's files or its remote tell of; github where nothing does.
/// @param top      the folder that has `.git`
/// @param git_dir  of its configuration
CiChoice find_ci(const std::filesystem::path& top, const std::filesystem::path& git_dir);

/// The workflow and what it needs, from ci/ of this repository.
/// @param top      the repository's top, for what is there already
/// @param project  the folder of `.sortie`, below `top`; "" for the top itself
std::vector<InitFile> ci_files(CiSystem system, const std::filesystem::path& top,
                               const std::filesystem::path& project, const FirstModel& model);

/// Why no workflow is made for a project in a folder of that name; "" if one can be. A workflow is
/// code, and a folder's name comes with the project: `$` begins an expression in all three systems,
/// whatever quotes stand around it.
std::string ci_obstacle(const std::filesystem::path& project);

/// The folder of the system's scripts at the repository's top, which no diff should change, where
/// policies do not protect it by themselves as they do `.github`; "" for none.
std::string ci_folder(CiSystem system);

/// What is left to do by hand before the workflow runs; "" for none.
std::string ci_next_step(CiSystem system, const std::filesystem::path& top,
                         const std::filesystem::path& project, const FirstModel& model);

}  // namespace sortie
