#include "app/confinement/linked_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <utility>

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLooked = 20'000;

/// A file with several names: how many it has, and those that were found.
struct Names {
  nlink_t count = 0;
  std::vector<fs::path> found;
};

}  // namespace

LinkedFiles find_linked_files(const fs::path& folder) {
  LinkedFiles linked;
  std::map<std::pair<dev_t, ino_t>, Names> files;
  int looked = 0;
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator it(folder, options, error), end; !error && it != end;
       it.increment(error)) {
    if (++looked > kMostLooked) {
      linked.complete = false;
      break;
    }
    struct stat status {};
    if (::lstat(it->path().c_str(), &status) != 0) continue;
    if (S_ISDIR(status.st_mode) && it->path().filename() == ".git") it.disable_recursion_pending();
    if (!S_ISREG(status.st_mode) || status.st_nlink < 2) continue;
    Names& names = files[{status.st_dev, status.st_ino}];
    names.count = status.st_nlink;
    names.found.push_back(it->path());
  }
  for (auto& [file, names] : files)
    if (names.found.size() < names.count)
      linked.paths.insert(linked.paths.end(), names.found.begin(), names.found.end());
  std::sort(linked.paths.begin(), linked.paths.end());
  return linked;
}

}  // namespace sortie
