#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/json/json.h"

namespace sortie {

/// A patch that stands in a command.
struct EmbeddedPatch {
  std::string patch;
  std::string folder{};  ///< of `cd FOLDER && apply_patch …`; "" for none
  bool operator==(const EmbeddedPatch&) const = default;
};

/// The patch of `apply_patch PATCH`, or of `[cd DIR &&] apply_patch <<'EOF' …` given to a shell,
/// the patch as a here-document or as one quoted word; nothing where the command does anything else
/// besides. `applypatch` is another name; a here-document without quotes is taken as it is written.
std::optional<EmbeddedPatch> find_embedded_patch(const std::vector<std::string>& argv);

/// The arguments of the tool apply_patch for a command that is one, its folder within the
/// workspace; null for any other command.
/// @param workdir  of the command, relative to the workspace
/// @throws ToolError  where `cd` leads out of the workspace, or the command is a patch that nothing
///                    is called with
Json embedded_patch_arguments(const std::vector<std::string>& argv,
                              const std::filesystem::path& workdir,
                              const std::filesystem::path& workspace);

}  // namespace sortie
