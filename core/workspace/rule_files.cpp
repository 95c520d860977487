#include "core/workspace/rule_files.h"

#include <system_error>

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

}  // namespace sortie
