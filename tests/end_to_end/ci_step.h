#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "core/files/files.h"
#include "tests/support/git_repository.h"
#include "tests/support/run_folder.h"

namespace sortie::test {

/// As long as it lives, a checkout is as a job in a container of GitHub has it: its top folder is of the
/// runner's user, and the job's steps are root's. Nothing changes for a caller who is not root.
class RunnersFolder {
 public:
  explicit RunnersFolder(std::filesystem::path folder) : folder_(std::move(folder)) {
    give_to(1001);
  }
  RunnersFolder(const RunnersFolder&) = delete;
  RunnersFolder& operator=(const RunnersFolder&) = delete;
  ~RunnersFolder() { give_to(0); }

 private:
  void give_to(uid_t user) const {
    if (::geteuid() == 0 && ::chown(folder_.c_str(), user, user) != 0) std::abort();
  }
  std::filesystem::path folder_;
};

/// A repository with a task, `sortie` and a `gh` on PATH that writes down what it is asked for, and
/// a bare repository as its origin.
class Step {
 public:
  Step() {
    folder_.write("work/answer.txt", "wrong\n");
    make_repository(folder_.workspace());
    commit_all(folder_.workspace());
    git(folder_.workspace(), {"init", "-q", "--bare", folder_.path("origin").string()});
    git(folder_.workspace(), {"remote", "add", "origin", folder_.path("origin").string()});
    folder_.write_task(
        CassetteWriter()
            .patch(
                "*** Begin Patch\n*** Update File: answer.txt\n@@\n-wrong\n+right\n*** End Patch\n")
            .next()
            .message("-Corrected $(touch hacked) `touch hacked`."));
    std::filesystem::create_directory(folder_.path("bin"));
    std::filesystem::create_symlink(sortie_binary(), folder_.path("bin/sortie"));
    // As the real one, it asks git about the checkout.
    folder_.write("bin/gh",
                  "#!/bin/bash\ngit rev-parse -q --verify HEAD > /dev/null || exit 4\n"
                  "printf '%s\\n' \"$@\" > '" +
                      folder_.path("gh.txt").string() + "'\ncat >> '" +
                      folder_.path("gh.txt").string() + "'\n");
    std::filesystem::permissions(folder_.path("bin/gh"), std::filesystem::perms::owner_all);
    folder_.write("step-outputs", "");
    const std::string said = git(folder_.workspace(), {"rev-parse", "HEAD"});
    head_ = said.substr(0, said.find('\n'));
  }

  const RunFolder& folder() const { return folder_; }
  const std::string& head() const { return head_; }
  /// Runs a script of ci/, such as "github/run.sh", as a step of a job.
  Said run(const std::string& script, std::map<std::string, std::string> more) const {
    more.insert({{"PATH", folder_.path("bin").string() + ":" + std::getenv("PATH")},
                 {"GITHUB_ACTIONS", "true"},
                 {"GITHUB_OUTPUT", folder_.path("step-outputs").string()},
                 {"SORTIE_OUT", folder_.out().string()},
                 {"SORTIE_POLICY", "auto"},
                 {"OPENAI_API_KEY", ""}});
    const RunnersFolder checkout(folder_.workspace());
    return run_program(
        {"bash", "-e", (std::filesystem::path(SORTIE_SOURCE_DIR) / "ci" / script).string()},
        folder_.workspace(), more);
  }
  Said work(std::map<std::string, std::string> more = {}) const {
    more.insert({{"SORTIE_TASK", folder_.task().string()},
                 {"SORTIE_WORKSPACE", "."},
                 {"SORTIE_VERSION", SORTIE_VERSION}});
    return run("github/run.sh", more);
  }

 private:
  RunFolder folder_;
  std::string head_;
};

}  // namespace sortie::test
