#include "core/git/config/git_format.h"

#include <algorithm>
#include <string_view>

namespace sortie {
namespace {

/// Those that change nothing of what is read: where objects come from or may not be removed, one
/// more configuration file, how worktrees name each other. start_libgit2() names them too.
constexpr std::string_view kHarmlessExtensions[] = {"noop", "partialclone", "worktreeconfig",
                                                    "preciousobjects", "relativeworktrees"};

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

std::string obstacle_of(std::string_view extension, const std::string& value, bool counts) {
  if (extension == "objectformat")
    return value == "sha1" ? "" : "its object ids are " + value + ", not sha1";
  if (extension == "refstorage")
    return value == "files" ? "" : "its references are kept as " + value + ", not as files";
  const auto* const known =
      std::find(std::begin(kHarmlessExtensions), std::end(kHarmlessExtensions), extension);
  // Of format 0 git passes over extensions that it does not know.
  if (!counts || known != std::end(kHarmlessExtensions)) return "";
  return "it has the extension " + std::string(extension);
}

}  // namespace

std::string format_obstacle(const std::vector<GitSetting>& settings) {
  constexpr std::string_view kPrefix = "extensions.";
  std::string version = "0";
  for (const GitSetting& setting : settings)
    if (setting.key == "core.repositoryformatversion") version = setting.value;
  if (version != "0" && version != "1") return "its format is version " + version;
  for (const GitSetting& setting : settings) {
    if (!setting.key.starts_with(kPrefix)) continue;
    const std::string_view name = std::string_view(setting.key).substr(kPrefix.size());
    std::string obstacle = obstacle_of(name, lower_case(setting.value), version == "1");
    if (!obstacle.empty()) return obstacle;
  }
  return "";
}

}  // namespace sortie
