#pragma once

#include <filesystem>
#include <string>

namespace sortie {

/// A path of a tool call, relative to the workspace and without "." and ".."; "." is the
/// workspace itself. Links are not looked at.
/// @param workspace  absolute
/// @param folder     relative to the workspace: what relative paths begin at
/// @throws ToolError  where it leads out of the workspace
std::filesystem::path workspace_path(const std::string& written,
                                     const std::filesystem::path& workspace,
                                     const std::filesystem::path& folder = {});

}  // namespace sortie
