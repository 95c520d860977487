#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/json/json.h"

namespace sortie {

/// A patch found in a command.
struct EmbeddedPatch {
  std::string patch;
  std::string folder{};  ///< FOLDER of `cd FOLDER && apply_patch …`, or ""
  bool operator==(const EmbeddedPatch&) const = default;
};

/// The patch of `apply_patch PATCH`, or of a shell script `[cd DIR &&] apply_patch <<'EOF' …` with
/// the patch as here-document or one quoted word; nothing if the command does anything else. The
/// name may be `applypatch`; a here-document without quotes is taken literally.
std::optional<EmbeddedPatch> find_embedded_patch(const std::vector<std::string>& argv);

/// The arguments of the tool apply_patch for a command that calls it; null for any other command.
/// @param workdir  the command's, relative to the workspace
/// @throws ToolError  if `cd` leaves the workspace, or the command is a bare patch, or calls
///                    apply_patch besides other commands: no program of that name would be found
Json embedded_patch_arguments(const std::vector<std::string>& argv,
                              const std::filesystem::path& workdir,
                              const std::filesystem::path& workspace);

}  // namespace sortie
