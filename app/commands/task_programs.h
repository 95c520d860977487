#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/task/task.h"
#include "policies/environment/command_path.h"

namespace sortie {

/// What a verification's command starts, as far as its text and the files here tell.
struct TaskPrograms {
  std::vector<std::string> found;      ///< on PATH, or in the workspace
  std::vector<std::string> missing;    ///< that are looked up on PATH, and not there
  std::vector<std::string> unusable;   ///< in the workspace, and not executable
  std::vector<std::string> unchecked;  ///< needed as well, and not looked at: for people
  std::vector<std::string> notes;      ///< a sentence each
};

/// Starts nothing. What the programs start themselves, such as a Makefile's compiler, is not known.
TaskPrograms find_programs(const VerifyCommand& command, const CommandPath& path,
                           const std::filesystem::path& workspace);

}  // namespace sortie
