#include "app/batch/checkout.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/base/unnamed_file.h"
#include "core/batch/run_name.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/text/text.h"
#include "core/workspace/tree.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::chrono::minutes kLongest{30};
constexpr std::chrono::milliseconds kPause{20};

/// Of the repository's owner, whoever that is; and a server of ours may give out any commit.
constexpr const char* kSettings =
    "[safe]\n\tdirectory = *\n[uploadpack]\n\tallowAnySHA1InWant = true\n"
    "[core]\n\thooksPath = /dev/null\n\tfsmonitor = false\n[advice]\n\tdetachedHead = false\n"
    "[protocol]\n\tallow = never\n[protocol \"file\"]\n\tallow = always\n[gc]\n\tauto = 0\n"
    "[init]\n\tdefaultBranch = main\n";

/// In the child: runs git, whose output goes to that file.
[[noreturn]] void exec_git(std::vector<std::string> words, int output,
                           const std::string& settings) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  for (const char* name : {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
                           "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG_PARAMETERS",
                           "GIT_CONFIG_COUNT", "GIT_CEILING_DIRECTORIES", "GIT_NAMESPACE"})
    ::unsetenv(name);
  ::setenv("GIT_CONFIG_GLOBAL", settings.c_str(), 1);
  ::setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
  ::setenv("GIT_TERMINAL_PROMPT", "0", 1);
  ::setenv("LC_ALL", "C.UTF-8", 1);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp("git", argv.data());
  ::_exit(127);
}

class Git {
 public:
  explicit Git(const fs::path& folder) : settings_(folder / ".gitconfig"), folder_(folder) {
    write_file(settings_, kSettings, 0600, Synced::nothing);
  }

  /// @return  what it printed, without the last line end
  /// @throws Error  its last line, if it failed
  std::string run(const std::vector<std::string>& words, ExitCode code) const {
    const Fd output = unnamed_file(folder_);
    if (!output) throw path_error(folder_.string(), errno);
    std::vector<std::string> all = {"git"};
    all.insert(all.end(), words.begin(), words.end());
    const pid_t pid = ::fork();
    if (pid < 0) throw system_error("fork", ExitCode::environment);
    if (pid == 0) exec_git(std::move(all), output.get(), settings_.string());
    const int status = end_of(pid);
    std::string text = text_of(output);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return text;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
      throw Error("git is not installed here, and the batch has workspaces with 'git'",
                  ExitCode::environment);
    const std::string last = text.substr(text.rfind('\n') + 1);
    throw Error("git " + words.at(words.front() == "-C" ? 2 : 0) + ": " +
                    (last.empty() ? "it was killed" : one_line(last, 300)),
                code);
  }

 private:
  static int end_of(pid_t pid) {
    SystemClock clock;
    const auto last = clock.steady() + kLongest;
    int status = 0;
    for (;;) {
      const pid_t ended = ::waitpid(pid, &status, WNOHANG);
      if (ended == pid) return status;
      if (ended < 0 && errno != EINTR) return -1;
      if (clock.steady() > last) ::kill(pid, SIGKILL);
      clock.sleep_for(kPause, {});
    }
  }

  static std::string text_of(const Fd& file) {
    std::string text(64u << 10, '\0');
    const ssize_t size = ::pread(file.get(), text.data(), text.size(), 0);
    text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    while (text.ends_with('\n')) text.pop_back();
    return text;
  }

  fs::path settings_;
  fs::path folder_;
};

Fd lock_of(const fs::path& file) {
  Fd lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!lock) throw path_error(file.string(), errno);
  SystemClock clock;
  const auto last = clock.steady() + kLongest;
  while (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (clock.steady() > last)
      throw Error(file.string() + ": another process has made this checkout for half an hour",
                  ExitCode::busy);
    clock.sleep_for(kPause, {});
  }
  return lock;
}

}  // namespace

std::string Checkout::name() const {
  const std::string base = git.filename().string();
  return run_name_of(base.substr(0, 60)) + "-" +
         short_digest(git.string() + '\0' + commit + '\0' + std::to_string(depth.value_or(0)));
}

fs::path make_checkout(const Checkout& checkout, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw path_error(folder.string(), error.value());
  const Fd lock = lock_of(folder / ("." + checkout.name() + ".lock"));
  const Git git(folder);
  const std::string commit = git.run({"-C", checkout.git.string(), "rev-parse", "--verify",
                                      "--end-of-options", checkout.commit + "^{commit}"},
                                     ExitCode::usage);
  const fs::path tree = folder / checkout.name();
  // Written when the tree is whole: a branch may have moved on since.
  const fs::path mark = folder / ("." + checkout.name() + ".commit");
  if (fs::is_directory(tree, error) && read_bytes_file(mark, 100).text == commit) return tree;
  fs::remove(mark, error);
  remove_tree(tree);
  git.run({"init", "--quiet", tree.string()}, ExitCode::environment);
  std::vector<std::string> fetch = {"-C", tree.string(), "fetch", "--quiet", "--no-tags"};
  if (checkout.depth) fetch.push_back("--depth=" + std::to_string(*checkout.depth));
  fetch.insert(fetch.end(), {checkout.git.string(), commit});
  git.run(fetch, ExitCode::environment);
  git.run({"-C", tree.string(), "checkout", "--quiet", "--detach", commit}, ExitCode::environment);
  fs::remove(tree / ".git/FETCH_HEAD", error);
  write_file(mark, commit, 0600, Synced::nothing);
  return tree;
}

}  // namespace sortie
