#pragma once

#include <unistd.h>

#include <string>
#include <vector>

#include "core/json/json.h"
#include "tests/support/git_repository.h"
#include "tests/support/run_folder.h"

namespace sortie::test {

inline const std::vector<std::string> kInPlace = {"--isolation", "none"};

inline constexpr const char* kWork =
    "echo by the run > a.txt; rm b.txt; mkdir new; echo more > new/c.txt; ln -s a.txt link";

inline CassetteWriter script(const std::string& text) {
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", text}).next().message("done");
  return cassette;
}

/// A committed workspace with changes of the user's, and a task that works in it.
struct OwnTreeRun : RunFolder {
  explicit OwnTreeRun(const std::string& work, const std::string& more = {}) {
    write("work/a.txt", "first\n");
    write("work/b.txt", "second\n");
    write("work/.gitignore", "*.log\n");
    commit_workspace();
    write("work/b.txt", "edited before\n");
    write("work/untracked.txt", "of the user\n");
    write_task(script(work), "policy: auto\n" + more);
  }
  std::string tree() const {
    return run_program({"sh", "-c",
                        "find . -path ./.git -prune -o -path ./out -prune -o -printf "
                        "'%p %y %m %l ' -type f -exec sha256sum {} + -o -print"},
                       workspace())
        .output;
  }
  bool has_warning(const std::string& text) const {
    const Json made = result();
    for (const Json& warning : made["warnings"].items())
      if (warning.text().find(text) != std::string::npos) return true;
    return false;
  }
};

/// A command that tells that it is there, and waits.
struct Waiting {
  std::string digits;
  explicit Waiting(const std::string& end)
      : digits("31557600." + std::to_string(::getpid()) + end) {}
  std::string words() const { return "; sleep " + digits + "; true"; }
  std::vector<pid_t> processes() const {
    return processes_with("sleep" + std::string(1, '\0') + digits);
  }
};

}  // namespace sortie::test
