#include "core/files/files_below.h"

#include "core/base/error.h"
#include "core/files/path_below.h"

namespace fs = std::filesystem;

namespace sortie {

FilesBelow::FilesBelow(const Files& files, fs::path folder)
    : files_(files), folder_(std::move(folder)) {}

/// @throws ToolError  for a path that would lead out of the folder by its words
fs::path FilesBelow::at(const fs::path& path) const {
  const fs::path whole = (folder_ / path).lexically_normal();
  if (path.is_absolute() || !is_below(whole.native(), folder_.native()))
    throw ToolError(path.string() + " leads out of " + folder_.string());
  return whole;
}

std::optional<std::string> FilesBelow::read(const fs::path& path, std::uint64_t max_bytes) const {
  return files_.read(at(path), max_bytes);
}

std::vector<std::optional<RegularFile>> FilesBelow::read_many(
    const std::vector<fs::path>& paths) const {
  std::vector<fs::path> whole;
  for (const fs::path& path : paths) whole.push_back(at(path));
  return files_.read_many(whole);
}

std::optional<FileStatus> FilesBelow::status(const fs::path& path) const {
  return files_.status(at(path));
}

fs::path FilesBelow::resolve(const fs::path& path) const {
  const fs::path whole = files_.resolve(at(path));
  if (!is_below(whole.native(), folder_.native()))
    throw ToolError(path.string() + " leads out of " + folder_.string());
  return whole.lexically_relative(folder_);
}

std::string FilesBelow::read_link(const fs::path& path) const { return files_.read_link(at(path)); }

std::vector<FolderEntry> FilesBelow::list(const fs::path& folder) const {
  return files_.list(at(folder));
}

namespace {
[[noreturn]] void refuse_to_write(const fs::path& path) {
  throw ToolError(path.string() + " is only read here");
}
}  // namespace

void FilesBelow::write(const fs::path& path, std::string_view, unsigned) { refuse_to_write(path); }

void FilesBelow::remove(const fs::path& path) { refuse_to_write(path); }

bool FilesBelow::remove_empty_folder(const fs::path& path) { refuse_to_write(path); }

void FilesBelow::replace_all(const std::vector<Replacement>& replacements) {
  if (!replacements.empty()) refuse_to_write(replacements.front().path);
}

}  // namespace sortie
