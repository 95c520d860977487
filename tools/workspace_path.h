#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "core/files/files.h"

namespace sortie {

/// A path of a tool call, relative to the workspace and without "." and ".."; "." is the
/// workspace itself. Links are not looked at.
/// @param workspace  absolute
/// @param folder     relative to the workspace: what relative paths begin at
/// @throws ToolError  where it leads out of the workspace
std::filesystem::path workspace_path(const std::string& written,
                                     const std::filesystem::path& workspace,
                                     const std::filesystem::path& folder = {});

/// Paths that a tool neither reads nor names, relative to the workspace. May be called by several
/// threads at once.
using HiddenPaths = std::function<bool(const std::filesystem::path&)>;

/// What was probably meant by a path at which nothing stands, for the model: "; did you mean …?" or
/// ": … is no folder", ": … is a link to …, which is not there", or "". It is the name nearest to
/// the first one of the path that is not there, else a file of the path's last name elsewhere in
/// the workspace.
std::string near_path(const Files& files, const std::filesystem::path& path,
                      const HiddenPaths& hidden);
/// That nothing stands at a path, and what was probably meant.
std::string missing_path(const Files& files, const std::filesystem::path& path,
                         const HiddenPaths& hidden);

}  // namespace sortie
