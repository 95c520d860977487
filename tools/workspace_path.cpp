#include "tools/workspace_path.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/text/text.h"

namespace sortie {
namespace fs = std::filesystem;

fs::path workspace_path(const std::string& written, const fs::path& workspace,
                        const fs::path& folder) {
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (std::any_of(written.begin(), written.end(), is_control))
    throw ToolError("The path " + one_line(written) + " has control characters in it");
  const fs::path path(written.empty() ? "." : written);
  fs::path inside = path.is_absolute() ? path.lexically_normal().lexically_relative(workspace)
                                       : (folder / path).lexically_normal();
  if (inside.empty() || *inside.begin() == "..")
    throw ToolError("The path " + written + " leads out of the workspace " + workspace.string() +
                    ", which the tools for files and a workdir are held to: only commands reach "
                    "/tmp and HOME (cat it there, or copy it into the workspace)");
  if (!inside.has_filename()) inside = inside.parent_path();
  return inside.empty() ? fs::path(".") : inside;
}

}  // namespace sortie
