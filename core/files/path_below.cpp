#include "core/files/path_below.h"

#include <algorithm>

namespace sortie {

bool is_below(const std::filesystem::path& path, const std::filesystem::path& folder) {
  const auto ends = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return ends.first == folder.end() || ends.first->empty();  // "": the part after a final "/"
}

bool is_below_any(const std::string& path, const std::vector<std::filesystem::path>& folders) {
  return std::any_of(folders.begin(), folders.end(),
                     [&](const auto& folder) { return is_below(path, folder); });
}

std::optional<std::filesystem::path> path_below(const std::filesystem::path& path,
                                                const std::filesystem::path& folder) {
  std::filesystem::path relative = path.lexically_relative(folder);
  if (relative.empty() || *relative.begin() == "..") return std::nullopt;
  return relative;
}

}  // namespace sortie
