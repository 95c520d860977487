#include "policies/sandbox/view/git_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "policies/sandbox/layers/mounts.h"

namespace sortie {

namespace fs = std::filesystem;

void lay_git_files(const GitView& git, const fs::path& scratch) {
  int count = 0;
  for (const auto& [file, text] : git.files) {
    const fs::path target = file.relative_path();
    struct stat status {};
    // What the view does not have, commands can't read.
    if (::lstat(target.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    const fs::path shown = scratch / ("git-config-" + std::to_string(count++));
    const Fd made(::open(shown.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444));
    if (!made || !write_all(made.get(), text) || ::fchmod(made.get(), 0444) != 0)
      throw system_error("make " + shown.string(), ExitCode::environment);
    attach_tree(copy_tree(shown, Access::read_only), target);
  }
}

}  // namespace sortie
