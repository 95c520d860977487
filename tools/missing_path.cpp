#include "tools/missing_path.h"

#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"

namespace sortie {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kLongestName = 400;

fs::path join(const fs::path& folder, const std::string& name) {
  return folder == "." ? fs::path(name) : folder / name;
}

std::string nearest_in(const Files& files, const fs::path& folder, const std::string& name,
                       const HiddenPaths& hidden) {
  std::vector<std::string> names;
  for (auto& entry : files.list(folder))
    if (!hidden || !hidden(join(folder, entry.name))) names.push_back(std::move(entry.name));
  return nearest_name(name, names);
}

}  // namespace

std::string missing_path(const Files& files, const fs::path& path, const HiddenPaths& hidden) {
  std::string text = one_line(path.string(), kLongestName) + ": no such file or folder";
  fs::path folder = ".";
  try {
    for (const auto& part : path) {
      const fs::path next = join(folder, part.string());
      // Through links too: what a name leads to decides whether the path goes on there.
      const auto status = files.status(files.resolve(next));
      if (hidden && hidden(next)) return text;
      if (status && status->kind == FileStatus::Kind::folder) {
        folder = next;
        continue;
      }
      if (status) return text + ": " + one_line(next.string(), kLongestName) + " is no folder";
      const std::string nearest = nearest_in(files, folder, part.string(), hidden);
      if (!nearest.empty())
        return text + "; did you mean " + one_line(join(folder, nearest).string(), kLongestName) +
               "?";
      if (folder != "." || next != path)
        text += "; " + std::string(folder == "." ? "the workspace" : "the folder ") +
                (folder == "." ? "" : one_line(folder.string(), kLongestName)) + " has no " +
                one_line(part.string(), kLongestName);
      return text;
    }
  } catch (const ToolError&) {  // what can't be looked at can't be proposed
  }
  return text;
}

}  // namespace sortie
