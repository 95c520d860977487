#include "policies/shell/lookup.h"

#include <algorithm>
#include <system_error>

#include "core/files/path_below.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

bool is_command_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '+' || c == '-';
}

bool is_bare_name(std::string_view word) {
  if (word == "[") return true;
  if (word.empty() || word == "." || word == "..") return false;
  return std::all_of(word.begin(), word.end(), is_command_letter);
}

}  // namespace

std::string_view base_name(std::string_view word) {
  const auto slash = word.rfind('/');
  return slash == std::string_view::npos ? word : word.substr(slash + 1);
}

std::vector<fs::path> lookup_folders(const std::vector<fs::path>& path, const fs::path& workspace) {
  std::vector<fs::path> folders;
  std::vector<fs::path> targets;
  for (const fs::path& entry : path) {
    if (!entry.is_absolute() || is_below(entry.lexically_normal(), workspace)) continue;
    std::string text = entry.lexically_normal().string();
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    folders.emplace_back(text);
    std::error_code missing;
    const fs::path target = fs::canonical(entry, missing);
    if (!missing) targets.push_back(target);
  }
  // Only the system's own links: one in a writable place could be turned elsewhere later.
  for (const char* known : {"/bin", "/sbin", "/usr/bin", "/usr/sbin"}) {
    std::error_code missing;
    const fs::path target = fs::canonical(known, missing);
    if (!missing && std::find(targets.begin(), targets.end(), target) != targets.end()) {
      folders.emplace_back(known);
    }
  }
  return folders;
}

std::string_view command_name(std::string_view word, std::span<const fs::path> folders) {
  if (is_bare_name(word)) return word;
  if (word.empty() || word.front() != '/') return {};
  const std::string_view name = base_name(word);
  const std::string_view folder = word.substr(0, word.size() - name.size() - 1);
  if (!is_bare_name(name) || name == "[") return {};
  const bool known = std::any_of(folders.begin(), folders.end(),
                                 [&](const fs::path& each) { return each.native() == folder; });
  return known ? name : std::string_view();
}

}  // namespace sortie
