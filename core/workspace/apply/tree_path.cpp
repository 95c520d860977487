#include "core/workspace/apply/tree_path.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace sortie {
namespace {

constexpr std::size_t kLongestPath = 4000;  // PATH_MAX, with room for the root
constexpr std::size_t kLongestName = 255;   // NAME_MAX

/// The characters that HFS+ does not see in a name (git: utf8.c, next_hfs_char).
std::string without_unseen(std::string_view name) {
  static const std::array<std::pair<unsigned, unsigned>, 4> kUnseen = {
      {{0x200c, 0x200f}, {0x202a, 0x202e}, {0x206a, 0x206f}, {0xfeff, 0xfeff}}};
  std::string seen;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(name[at]); };
    if (i + 2 < name.size() && (byte(i) & 0xf0u) == 0xe0u) {
      const unsigned point =
          (byte(i) & 0x0fu) << 12 | (byte(i + 1) & 0x3fu) << 6 | (byte(i + 2) & 0x3fu);
      const bool unseen = std::any_of(kUnseen.begin(), kUnseen.end(), [point](const auto& range) {
        return point >= range.first && point <= range.second;
      });
      if (unseen) {
        i += 2;
        continue;
      }
    }
    seen += name[i];
  }
  return seen;
}

/// Whether Linux, macOS or Windows may take a name for `.git` (git: is_hfs_dotgit, is_ntfs_dotgit).
bool is_git_name(std::string_view part) {
  std::string name = without_unseen(part);
  name = name.substr(0, name.find(':'));  // a stream of NTFS
  while (!name.empty() && (name.back() == '.' || name.back() == ' ')) name.pop_back();
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return name == ".git" || name == "git~1";
}

std::string part_problem(std::string_view part) {
  if (part.empty() || part == ".") return "is no plain path";
  if (part == "..") return "leads out of the tree";
  if (part.size() > kLongestName) return "has a name that is too long";
  if (part == kApplyFolder) return "is sortie's own folder";
  for (std::string_view rest = part;;) {
    const auto end = rest.find('\\');
    if (is_git_name(rest.substr(0, end))) return "is a part of the repository itself";
    if (end == rest.npos) return "";
    rest.remove_prefix(end + 1);
  }
}

}  // namespace

std::string path_problem(const std::string& path) {
  if (path.empty() || path.front() == '/') return "is no path in the tree";
  if (path.size() > kLongestPath) return "is too long";
  if (path.find('\0') != path.npos) return "holds a NUL byte";
  for (std::string_view rest = path;;) {
    const auto end = rest.find('/');
    if (std::string problem = part_problem(rest.substr(0, end)); !problem.empty()) return problem;
    if (end == rest.npos) return "";
    rest.remove_prefix(end + 1);
  }
}

}  // namespace sortie
