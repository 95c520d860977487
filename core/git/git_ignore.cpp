#include "core/git/git_ignore.h"

#include <fcntl.h>

#include "core/base/error.h"
#include "core/files/files.h"
#include "core/git/git_repository.h"

namespace sortie {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kMostOfIgnoreFile = 1u << 20;

/// The file's text; "" if it is not a regular file of plausible size, which git ignores too.
std::string read_rules(const fs::path& file) {
  Fd root(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return "";
  try {
    return DiskFiles(std::move(root)).read(file.relative_path(), kMostOfIgnoreFile).value_or("");
  } catch (const ToolError&) {
    return "";
  }
}

/// The text of the repository's own core.excludesFile, or "".
fs::path excludes_file(git_repository& repository, const fs::path& toplevel) {
  const std::string value = setting_of(repository, "core.excludesfile").value_or("");
  return value.empty() || value.front() == '~' ? fs::path() : toplevel / value;
}

}  // namespace

std::string exclude_rules(const FoundRepository& found) {
  std::string rules;
  if (const fs::path file = excludes_file(*found.handle, found.toplevel); !file.empty())
    rules += read_rules(file) + '\n';
  return rules + read_rules(found.place.common_dir / "info/exclude");
}

std::vector<OuterIgnoreFile> outer_ignore_files(const fs::path& workspace) {
  using Kind = OuterIgnoreFile::Kind;
  std::vector<OuterIgnoreFile> files;
  FoundRepository found;
  try {
    found = find_repository(workspace);
  } catch (const Error&) {  // unreadable: no rules
  }
  if (!found.handle) return files;
  const fs::path below =
      workspace == found.toplevel ? fs::path() : workspace.lexically_relative(found.toplevel);
  const auto add = [&files](Kind kind, const fs::path& prefix, std::string text) {
    if (!text.empty()) files.push_back({kind, prefix.string(), std::move(text)});
  };
  add(Kind::exclude, below, exclude_rules(found));
  fs::path above = found.toplevel;
  for (const auto& part : below) {
    add(Kind::gitignore, workspace.lexically_relative(above), read_rules(above / ".gitignore"));
    above /= part;
  }
  return files;
}

}  // namespace sortie
