#include "policies/rules/read_only_checks.h"

#include <fnmatch.h>

#include <algorithm>
#include <vector>

namespace sortie {
namespace {

bool is_kernel_folder(std::string_view name) {
  return name == "proc" || name == "sys" || name == "dev";
}

/// A path's parts without empty ones and ".".
std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const auto slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    if (!part.empty() && part != ".") parts.push_back(part);
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return parts;
}

/// Whether a part is "..", or a glob that some shells expand to it (".*", ".?", ".[[:punct:]]").
bool goes_up(std::string_view part) {
  if (part == "..") return true;
  return part.size() > 1 && part[0] == '.' && part.find_first_of("*?[") != std::string_view::npos &&
         ::fnmatch(std::string(part).c_str(), "..", 0) == 0;
}

/// Whether an absolute path leads into a kernel's folder, or through one: its entries may be links,
/// so that ".." after /proc/self/cwd is not /proc/self.
bool passes_kernel_folder(const std::vector<std::string_view>& parts) {
  std::vector<std::string_view> kept;
  for (const std::string_view part : parts) {
    if (!goes_up(part)) {
      kept.push_back(part);
    } else if (!kept.empty()) {
      kept.pop_back();
    }
    if (!kept.empty() && is_kernel_folder(kept.front())) return true;
  }
  return false;
}

/// Whether a path, read in `workdir`, leads or may lead into the kernel's own file systems.
bool reaches_kernel_folder(std::string_view path, const std::string& workdir) {
  if (path == "/dev/null") return false;
  const bool absolute = path.starts_with("/");
  const std::vector<std::string_view> parts = parts_of(path);
  const std::string whole = absolute ? std::string(path) : workdir + '/' + std::string(path);
  if (passes_kernel_folder(parts_of(whole))) return true;
  const auto last_up = std::find_if(parts.rbegin(), parts.rend(), goes_up);
  const bool has_up = last_up != parts.rend();
  // After the last "..": a link before it may have led anywhere.
  const auto next = has_up ? last_up.base() : parts.begin();
  if (next == parts.end() || !(has_up || absolute)) return false;
  return is_kernel_folder(*next) || next->find_first_of("*?[") != std::string_view::npos;
}

}  // namespace

bool is_in_kernel_folder(const std::string& folder) {
  return passes_kernel_folder(parts_of(folder));
}

std::optional<NotReadOnly> refuse_word(std::string_view part, std::string_view reason) {
  return NotReadOnly{.part = std::string(part), .reason = std::string(reason), .known = true};
}

std::optional<NotReadOnly> check_paths(CheckedWords words, const std::string& folder,
                                       const OptionReader* reader) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (reader != nullptr && reader->is_text(i)) continue;
    if (word_reaches_kernel_folder(words[i], folder))
      return refuse_word(words[i], "it may lead into /proc, /sys or /dev");
  }
  return std::nullopt;
}

bool word_reaches_kernel_folder(std::string_view word, const std::string& workdir) {
  if (reaches_kernel_folder(word, workdir)) return true;
  if (!word.starts_with("-")) return false;
  const auto equals = word.find('=');
  if (equals != std::string_view::npos && reaches_kernel_folder(word.substr(equals + 1), workdir)) {
    return true;
  }
  // "-f/proc/x", "-nf/proc/x", "-nf../../proc/x": the value may begin anywhere in the first part,
  // which matters only where it leaves "", ".", "..", "proc", "sys" or "dev" of that part, or all.
  const auto slash = std::min(word.find('/'), word.size());
  for (const std::size_t length :
       {slash, std::size_t{4}, std::size_t{3}, std::size_t{2}, std::size_t{1}, std::size_t{0}}) {
    const std::size_t begin = length >= slash ? 2 : slash - length;
    if (begin >= 2 && begin < word.size() && reaches_kernel_folder(word.substr(begin), workdir))
      return true;
  }
  return false;
}

}  // namespace sortie
