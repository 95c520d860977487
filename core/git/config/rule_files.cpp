#include "core/git/config/rule_files.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <system_error>

#include "core/base/error.h"
#include "core/files/files.h"
#include "core/files/path_below.h"

namespace sortie {

namespace fs = std::filesystem;

fs::path blocking_rule_file(const fs::path& toplevel, const std::string& path, const char* name) {
  fs::path folder = toplevel;
  for (const fs::path& part : fs::path(path)) {
    std::error_code error;
    const fs::file_status status = fs::status(folder / name, error);
    if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status))
      return folder / name;
    folder /= part;
  }
  return {};
}

std::optional<std::string> read_rule_file(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || reading_may_block(path)) return std::nullopt;
  try {
    return read_file(path);
  } catch (const Error&) {  // no permission: git can't read it either
    return std::nullopt;
  }
}

bool reading_may_block(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return false;
  if (S_ISFIFO(status.st_mode) || S_ISBLK(status.st_mode)) return true;
  if (S_ISCHR(status.st_mode)) return status.st_rdev != makedev(1, 3);
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return S_ISREG(status.st_mode) && (is_below(real, "/proc") || is_below(real, "/sys"));
}

std::string readable_rules(std::string_view rules) {
  std::string kept;
  while (!rules.empty()) {
    const std::size_t end = rules.find('\n');
    const std::string_view line = rules.substr(0, end == rules.npos ? end : end + 1);
    if (line.find_first_of("\v\f") == line.npos) kept += line;
    rules.remove_prefix(line.size());
  }
  return kept;
}

}  // namespace sortie
