#include "core/files/temporary.h"

#include <stdlib.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "core/base/error.h"
#include "core/base/own_variable.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// Where temporary folders may be, the first one wanted most.
std::vector<fs::path> places() {
  std::vector<fs::path> found = {own_variable("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm",
                                 own_variable("HOME")};
  std::erase_if(found, [](const fs::path& place) { return !place.is_absolute(); });
  return found;
}

}  // namespace

fs::path make_temporary_folder(const std::string& name) {
  std::string problem;
  for (const fs::path& folder : places()) {
    std::string pattern = (folder / (name + "-XXXXXX")).string();
    if (::mkdtemp(pattern.data()) != nullptr) return fs::canonical(pattern);
    if (!problem.empty()) problem += "; ";
    problem += folder.string() + ": " + errno_text(errno);
  }
  throw Error("no folder for temporary files: " + problem + ": set TMPDIR", ExitCode::environment);
}

bool is_temporary_folder(const fs::path& path, const std::string& name) {
  if (!path.filename().string().starts_with(name + '-')) return false;
  for (const fs::path& place : places()) {
    std::error_code error;
    if (fs::canonical(place, error) == path.parent_path() && !error) return true;
  }
  return false;
}

}  // namespace sortie
