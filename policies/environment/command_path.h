#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "policies/environment/environment.h"

namespace sortie {

/// Whether folders of the workspace, which commands can write to, stay on their PATH.
enum class WorkspaceFolders { left_out, kept };

/// Which installations are shown with their program folders.
enum class Installations { none, outside_home, all };

/// Inputs that decide which folders of sortie's own PATH its commands get. All paths absolute.
struct CommandPathPlaces {
  std::vector<std::filesystem::path> writable{};  ///< besides the workspace
  std::vector<std::filesystem::path> temporary = {"/tmp", "/var/tmp",
                                                  "/dev/shm"};  ///< writable too
  /// Shown read-only although inside a writable place: entries of `paths.read`, and toolchains'
  /// folders of PATH, which the view mounts read-only.
  std::vector<std::filesystem::path> shown{};
  std::filesystem::path workspace{};  ///< as the caller names it; "" for none
  std::filesystem::path home{};       ///< the caller's
  WorkspaceFolders workspace_folders = WorkspaceFolders::left_out;
  /// Folders that a shown installation must not be, contain or be in: the workspace, --out, folders
  /// that commands write to.
  std::vector<std::filesystem::path> kept_apart{};
  Installations installations = Installations::none;
};

/// The PATH of a run's commands, and the entries of the caller's that are left out.
struct CommandPath {
  /// An entry that commands do not have.
  struct LeftOut {
    std::string entry;
    std::string why;
    std::string remedy;  ///< how to keep it; or ""
  };
  std::vector<std::filesystem::path> folders;        ///< links resolved; never empty
  std::vector<std::filesystem::path> installations;  ///< to be shown read-only with their `bin`
  std::vector<LeftOut> left_out;                     ///< existing ones, in their order
  Environment variables;  ///< VIRTUAL_ENV, CONDA_PREFIX, if their `bin` is among the folders
};

/// The folders in which a command's name is looked up: the absolute entries of sortie's own PATH
/// that exist and that no command can write to, links resolved, since a link's folder could be
/// writable; those of the workspace if they are to be kept.
///
/// `X/bin` beside `X/pyvenv.cfg`, `X/conda-meta` or `X/lib` is the program folder of an
/// installation X, which does not work without the rest.
CommandPath find_command_path(const Environment& own, const CommandPathPlaces& places);

/// "PATH: /w/.venv/bin is left out: why; remedy".
std::string left_out_text(const CommandPath::LeftOut& one);

}  // namespace sortie
