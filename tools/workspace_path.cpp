#include "tools/workspace_path.h"

#include <algorithm>
#include <deque>
#include <vector>

#include "core/base/error.h"
#include "core/files/open_beneath.h"
#include "core/text/git_quote.h"
#include "core/text/text.h"

namespace sortie {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kLongestName = 400;
constexpr std::size_t kMaxFolders = 1000;  ///< searched for a file of the same name

fs::path join(const fs::path& folder, const std::string& name) {
  return folder == "." ? fs::path(name) : folder / name;
}

std::string shown(const fs::path& path) {
  return one_line(git_quoted_for_reading(path.native()), kLongestName);
}

std::string did_you_mean(const fs::path& path) { return "; did you mean " + shown(path) + "?"; }

std::string nearest_in(const Files& files, const fs::path& folder, const std::string& name,
                       const HiddenPaths& hidden) {
  std::vector<std::string> names;
  for (auto& entry : files.list(folder))
    if (!hidden || !hidden(join(folder, entry.name))) names.push_back(std::move(entry.name));
  return nearest_name(name, names);
}

bool is_file(const Files& files, const fs::path& path, const HiddenPaths& hidden) {
  if (hidden && hidden(path)) return false;
  const auto status = files.status(path);
  return status && status->kind == FileStatus::Kind::file;
}

/// The first file of this name, topmost folders first; folders whose names begin with a dot are
/// skipped.
fs::path same_name_elsewhere(const Files& files, const std::string& name,
                             const HiddenPaths& hidden) {
  std::deque<fs::path> folders = {"."};
  for (std::size_t looked = 0; !folders.empty() && looked < kMaxFolders; ++looked) {
    const fs::path folder = std::move(folders.front());
    folders.pop_front();
    for (const auto& entry : files.list(folder)) {
      const fs::path path = join(folder, entry.name);
      if (entry.name.starts_with('.') || (hidden && hidden(path))) continue;
      if (entry.kind == FileStatus::Kind::folder) folders.push_back(path);
      if (entry.kind == FileStatus::Kind::file && entry.name == name) return path;
    }
  }
  return {};
}

std::string guess(const Files& files, const fs::path& path, const HiddenPaths& hidden) {
  std::string slashes = path.string();
  std::replace(slashes.begin(), slashes.end(), '\\', '/');
  if (slashes != path.string() && is_file(files, slashes, hidden)) return did_you_mean(slashes);

  fs::path folder = ".";
  for (const auto& part : path) {
    const fs::path next = join(folder, part.string());
    // Links are followed: the path may go on behind one.
    const auto status = files.status(files.resolve(next));
    if (hidden && hidden(next)) return "";
    if (status && status->kind == FileStatus::Kind::folder) {
      folder = next;
      continue;
    }
    if (status) return ": not a folder: " + shown(next);
    const fs::path entry = join(folder == "." ? folder : files.resolve(folder), part.string());
    if (const auto link = files.status(entry); link && link->kind == FileStatus::Kind::symlink)
      return ": " + shown(next) + " is a link to " +
             one_line(files.read_link(entry), kLongestName) + ", which does not exist";
    const std::string nearest = nearest_in(files, folder, part.string(), hidden);
    if (!nearest.empty()) return did_you_mean(join(folder, nearest));
    const fs::path same = same_name_elsewhere(files, path.filename().string(), hidden);
    if (!same.empty()) return did_you_mean(same);
    if (folder == "." && next == path) return "";
    return "; " + (folder == "." ? "the workspace" : "the folder " + shown(folder)) + " has no " +
           one_line(part.string(), kLongestName);
  }
  return "";
}

}  // namespace

fs::path workspace_path(const std::string& written, const fs::path& workspace,
                        const fs::path& folder) {
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (std::any_of(written.begin(), written.end(), is_control))
    throw ToolError("The path contains control characters: " + git_quoted_for_reading(written) +
                    ", if such a file is meant, is written so, with the quotes");
  const auto unquoted = git_unquoted(written);
  if (unquoted && unquoted->find('\0') != std::string::npos)
    throw ToolError("The path contains a NUL: " + written);
  const fs::path path(unquoted ? *unquoted : written.empty() ? "." : written);
  fs::path inside = path.is_absolute() ? path.lexically_normal().lexically_relative(workspace)
                                       : (folder / path).lexically_normal();
  if (inside.empty() || *inside.begin() == "..")
    throw LeadsOutside(
        (workspace / folder / path).lexically_normal(),
        "Path outside the workspace " + workspace.string() + ": " + written +
            ". File tools and workdir are limited to the workspace; only commands "
            "can access /tmp and HOME (cat the file, or copy it into the workspace)");
  if (!inside.has_filename()) inside = inside.parent_path();
  return inside.empty() ? fs::path(".") : inside;
}

std::string path_hint(const Files& files, const fs::path& path, const HiddenPaths& hidden) {
  try {
    return guess(files, path, hidden);
  } catch (const ToolError&) {  // unreadable: nothing to suggest
    return "";
  }
}

std::string missing_path(const Files& files, const fs::path& path, const HiddenPaths& hidden) {
  return shown(path) + ": no such file or folder" + path_hint(files, path, hidden);
}

}  // namespace sortie
