#include "core/agent/project_docs.h"

#include <optional>

#include "core/base/error.h"
#include "core/text/text.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// Longer documents are not read at all: no project writes them for people or agents.
constexpr std::uint64_t kMaxFileBytes = 16u << 20;

/// The folders from the root ("") down to the workspace.
std::vector<fs::path> folders_down_to(const fs::path& workspace) {
  std::vector<fs::path> folders = {fs::path()};
  fs::path folder;
  for (const auto& part : workspace.lexically_normal()) {
    if (part.empty() || part == ".") continue;
    folder /= part;
    folders.push_back(folder);
  }
  return folders;
}

using Hidden = std::function<bool(const fs::path&)>;

std::optional<std::string> read(const Files& files, const fs::path& path, const Hidden& hidden,
                                std::vector<std::string>& notes) {
  try {
    if (hidden && (hidden(path.lexically_normal()) || hidden(files.resolve(path)))) {
      notes.push_back(path.string() + " was not read: paths.hide of the policy hides it");
      return {};
    }
    return files.read(path, kMaxFileBytes);
  } catch (const ToolError& error) {
    notes.push_back(path.string() + " was not read: " + error.what());
    return {};
  }
}

}  // namespace

ProjectDocs read_project_docs(const Files& repository, const fs::path& workspace,
                              const std::vector<std::string>& names, std::uint64_t max_bytes,
                              const Hidden& hidden) {
  ProjectDocs found;
  std::uint64_t left = max_bytes;
  for (const fs::path& folder : folders_down_to(workspace)) {
    for (const std::string& name : names) {
      const fs::path path = folder / name;
      const auto bytes = read(repository, path, hidden, found.notes);
      if (!bytes || bytes->empty()) continue;
      const std::string text = repair_utf8(*bytes);
      const std::string_view shown = utf8_prefix(text, left);
      if (shown.size() < text.size())
        found.notes.push_back(path.string() + " was cut to " + std::to_string(shown.size()) +
                              " of " + std::to_string(text.size()) +
                              " bytes (workspace.project_docs_max_bytes)");
      left -= shown.size();
      if (!shown.empty()) found.docs.push_back({path.string(), std::string(shown)});
    }
  }
  return found;
}

}  // namespace sortie
