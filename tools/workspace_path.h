#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "core/files/files.h"

namespace sortie {

/// The path of a tool call, relative to the workspace and without "." and ".."; "." is the
/// workspace itself. Links are not resolved.
/// @param written    may be in quotes, as git_quoted_for_reading() shows an odd name
/// @param workspace  absolute
/// @param folder     where relative paths start, relative to the workspace
/// @throws ToolError  if the path is outside the workspace
std::filesystem::path workspace_path(const std::string& written,
                                     const std::filesystem::path& workspace,
                                     const std::filesystem::path& folder = {});

/// Whether a path, relative to the workspace, is one that tools neither read nor name. Thread-safe.
using HiddenPaths = std::function<bool(const std::filesystem::path&)>;

/// A hint for the model about a path that does not exist: "; did you mean …?", ": not a folder: …",
/// ": … is a link to …, which does not exist", or "". Suggests the name nearest to the first
/// missing part, else a file of the same name elsewhere in the workspace.
std::string path_hint(const Files& files, const std::filesystem::path& path,
                      const HiddenPaths& hidden);
/// "PATH: no such file or folder", with the hint.
std::string missing_path(const Files& files, const std::filesystem::path& path,
                         const HiddenPaths& hidden);

}  // namespace sortie
