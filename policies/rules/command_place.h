#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "policies/rules/running_beside.h"

namespace sortie {

/// What stands at the path of a script of the workspace, against the start of the run.
struct ScriptFile {
  std::filesystem::path path;  ///< relative to the workspace, links resolved
  std::string problem;         ///< why it is not as it was at the start; "" where it is
};

/// Looks at the file that a path means, as the kernel would resolve it.
/// path: absolute, as the command names it, not normalised: "WORKDIR/./scripts/a.sh"
using ScriptFiles = std::function<ScriptFile(const std::filesystem::path& path)>;

/// Where a command is to run, for the rules that judge paths.
struct CommandPlace {
  std::filesystem::path workspace;                 ///< absolute
  std::filesystem::path workdir;                   ///< absolute
  std::span<const std::filesystem::path> folders;  ///< in which a command's name is looked up
  /// What stands at a script's path now; nothing: script rules judge by words alone.
  const ScriptFiles* scripts = nullptr;
  const RunningBeside* beside = nullptr;  ///< what runs already; nothing: nothing does
};

}  // namespace sortie
