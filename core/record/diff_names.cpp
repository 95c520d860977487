#include "core/record/diff_names.h"

#include <string_view>

#include "core/base/hash.h"
#include "core/files/file_name.h"

namespace sortie {
namespace {

constexpr std::string_view kDiffEnd = ".diff";
constexpr std::string_view kSha256Mark = "sha256:";

std::string below_folder(const std::string& name, const std::string& folder) {
  if (!name.starts_with(folder + "/") || !name.ends_with(kDiffEnd)) return "";
  const std::size_t begin = folder.size() + 1;
  if (name.size() <= begin + kDiffEnd.size()) return "";
  const std::string path = name.substr(begin, name.size() - begin - kDiffEnd.size());
  return is_plain_path(path) && path.find('\0') == path.npos ? path : "";
}

}  // namespace

std::string diff_name(const std::string& main, const std::string& submodule) {
  if (submodule.empty()) return main;
  const char* folder = main == kChangesDiff ? kSubmoduleDiffs : kPartialSubmoduleDiffs;
  return std::string(folder) + "/" + submodule + std::string(kDiffEnd);
}

std::string submodule_of_diff(const std::string& name) {
  const std::string found = below_folder(name, kSubmoduleDiffs);
  return found.empty() ? below_folder(name, kPartialSubmoduleDiffs) : found;
}

bool is_diff_name(const std::string& name) {
  return name == kChangesDiff || name == kPartialDiff || !submodule_of_diff(name).empty();
}

std::filesystem::path place_of(const std::string& submodule,
                               const std::filesystem::path& workspace) {
  return submodule.empty() ? workspace : workspace / submodule;
}

std::string digest_of_diffs(const std::map<std::string, std::string>& digests) {
  const auto main = digests.find(kChangesDiff);
  if (main == digests.end()) return "";
  const auto hex = [](const std::string& digest) {
    return digest.starts_with(kSha256Mark) ? digest.substr(kSha256Mark.size()) : digest;
  };
  std::string lines;
  bool several = false;
  for (const auto& [name, digest] : digests) {
    const bool of_submodule = name.starts_with(std::string(kSubmoduleDiffs) + "/");
    if (name != kChangesDiff && !of_submodule) continue;
    several = several || of_submodule;
    lines += hex(digest) + "  " + name + "\n";
  }
  return std::string(kSha256Mark) + (several ? sha256_hex(lines) : hex(main->second));
}

}  // namespace sortie
