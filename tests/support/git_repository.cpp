#include "tests/support/git_repository.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

#include "core/base/fd.h"

namespace sortie::test {
namespace {

std::vector<std::string> environment_with(const std::map<std::string, std::string>& added) {
  std::map<std::string, std::string> all = {{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                                            {"HOME", "/nonexistent"},
                                            {"GIT_CONFIG_NOSYSTEM", "1"},
                                            {"GIT_CONFIG_GLOBAL", "/dev/null"},
                                            {"GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z"},
                                            {"GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z"},
                                            {"LC_ALL", "C"}};
  for (const auto& [name, value] : added) all[name] = value;
  std::vector<std::string> lines;
  for (const auto& [name, value] : all) lines.push_back(name + '=' + value);
  return lines;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const auto& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

[[noreturn]] void become(const std::vector<std::string>& argv, const std::filesystem::path& folder,
                         const std::vector<std::string>& environment, int output) {
  ::dup2(::open("/dev/null", O_RDONLY), 0);
  ::dup2(output, 1);
  ::dup2(output, 2);
  if (::chdir(folder.c_str()) == 0) {
    ::execvpe(argv[0].c_str(), pointers(argv).data(), pointers(environment).data());
  }
  ::_exit(127);
}

}  // namespace

Said run_program(const std::vector<std::string>& argv, const std::filesystem::path& folder,
                 const std::map<std::string, std::string>& environment) {
  const std::vector<std::string> lines = environment_with(environment);
  Pipe pipe = make_pipe();
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork");
  if (child == 0) become(argv, folder, lines, pipe.write.get());
  pipe.write.reset();
  Said said;
  char part[4096];
  for (ssize_t count = 0; (count = ::read(pipe.read.get(), part, sizeof part)) > 0;) {
    said.output.append(part, static_cast<std::size_t>(count));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  said.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return said;
}

std::string git(const std::filesystem::path& folder, const std::vector<std::string>& arguments) {
  std::vector<std::string> argv{"git"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  const Said said = run_program(argv, folder);
  if (said.status != 0) throw std::runtime_error("git " + arguments[0] + ": " + said.output);
  return said.output;
}

void make_repository(const std::filesystem::path& folder) {
  git(folder, {"init", "-q", "-b", "main"});
  git(folder, {"config", "user.name", "Test"});
  git(folder, {"config", "user.email", "test@example.org"});
}

void commit_all(const std::filesystem::path& folder) {
  git(folder, {"add", "-A"});
  git(folder, {"commit", "-q", "-m", "state"});
}

}  // namespace sortie::test
