#include "tests/support/program.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "core/base/error.h"
#include "tests/support/event_check.h"

namespace sortie::test {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void exec_child(const ProgramStart& start, int input, int output, int errors) {
  ::setpgid(0, 0);
  ::dup2(input, 0);
  ::dup2(output, 1);
  ::dup2(errors, 2);
  std::signal(SIGPIPE, SIG_DFL);
  if (start.uid &&
      (::setgroups(0, nullptr) != 0 || ::setgid(*start.uid) != 0 || ::setuid(*start.uid) != 0))
    ::_exit(126);
  if (!start.folder.empty() && ::chdir(start.folder.c_str()) != 0) ::_exit(126);
  for (const auto& [name, value] : start.environment) {
    if (value.empty())
      ::unsetenv(name.c_str());
    else
      ::setenv(name.c_str(), value.c_str(), 1);
  }
  std::vector<char*> argv;
  for (const auto& word : start.argv) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  ::_exit(127);
}

/// False once the stream has ended.
bool append_from(Fd& from, std::string& to) {
  std::array<char, 65536> buffer;
  const ssize_t count = ::read(from.get(), buffer.data(), buffer.size());
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  if (count == 0) {
    from.reset();
    return false;
  }
  to.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

bool has_word(const ProgramStart& start, const std::string& word) {
  return std::find(start.argv.begin(), start.argv.end(), word) != start.argv.end();
}

}  // namespace

Program::Program(const ProgramStart& start)
    : shows_events_(start.shows_events && !start.close_output && has_word(start, "run") &&
                    has_word(start, "--json")) {
  Pipe input = make_pipe();
  Pipe output = make_pipe();
  Pipe errors = make_pipe();
  pid_ = ::fork();
  if (pid_ < 0) throw system_error("fork");
  if (pid_ == 0) exec_child(start, input.read.get(), output.write.get(), errors.write.get());
  ::setpgid(pid_, pid_);
  errors_ = std::move(errors.read);
  if (start.leave_output)
    left_ = std::move(output.read);
  else if (!start.close_output)
    output_ = std::move(output.read);
  // Inputs of tests fit the pipe, so that nobody has to wait here.
  if (!write_all(input.write.get(), start.input)) throw system_error("write to the program");
  input.write.reset();
}

Program::~Program() {
  if (pid_ <= 0) return;
  ::kill(-pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Program::signal(int number) const { ::kill(pid_, number); }

bool Program::read_some(std::chrono::milliseconds wait) {
  pollfd ends[2] = {{output_.get(), POLLIN, 0}, {errors_.get(), POLLIN, 0}};
  ::poll(ends, 2, static_cast<int>(wait.count()));
  if (output_ && ends[0].revents != 0) append_from(output_, end_.output);
  if (errors_ && ends[1].revents != 0) append_from(errors_, end_.errors);
  return output_ || errors_;
}

bool Program::wait_for_error_text(const std::string& text) {
  while (end_.errors.find(text) == std::string::npos)
    if (!errors_ || !read_some(std::chrono::seconds(60))) break;
  return end_.errors.find(text) != std::string::npos;
}

bool Program::wait_for_output_text(const std::string& text) {
  while (end_.output.find(text) == std::string::npos)
    if (!output_ || !read_some(std::chrono::seconds(60))) break;
  return end_.output.find(text) != std::string::npos;
}

ProgramEnd Program::finish(std::chrono::seconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (read_some(std::chrono::milliseconds(200))) {
    if (std::chrono::steady_clock::now() < deadline) continue;
    ::kill(-pid_, SIGKILL);
    break;
  }
  int status = 0;
  while (::waitpid(pid_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() >= deadline) ::kill(-pid_, SIGKILL);
    ::poll(nullptr, 0, 2);
  }
  pid_ = -1;
  end_.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (shows_events_ && WIFEXITED(status)) take_events();
  return std::move(end_);
}

void Program::take_events() {
  end_.events = check_events(end_.output, end_.status);
  std::string message = end_.status == 0 ? final_message(end_.events) : "";
  if (!message.empty()) message += '\n';
  end_.output = std::move(message);
}

std::string ProgramEnd::printed() const {
  std::string text = output + errors;
  for (const Json& event : events) write_json(event, text);
  return text;
}

ProgramEnd run_program(const ProgramStart& start) { return Program(start).finish(); }

std::vector<Caller> all_callers() {
  std::vector<Caller> callers = {
      {.name = "the test's user"},
      {.name = "the test's user without namespaces", .namespaces = false}};
  if (::getuid() == 0) {
    callers.push_back({.name = "an ordinary user", .uid = 1000});
    callers.push_back(
        {.name = "an ordinary user without namespaces", .uid = 1000, .namespaces = false});
  }
  return callers;
}

ProgramStart as_caller(const Caller& caller, ProgramStart start) {
  if (!caller.namespaces)
    start.argv.insert(start.argv.begin(),
                      std::string(SORTIE_BINARY_DIR) + "/tests/support/refuse_namespaces");
  if (caller.uid) {
    start.uid = caller.uid;
    start.environment["HOME"] = "/nonexistent";
  }
  return start;
}

void give_to(const fs::path& tree, std::optional<uid_t> uid) {
  if (!uid || ::getuid() != 0) return;
  if (::lchown(tree.c_str(), *uid, *uid) != 0) throw system_error("chown " + tree.string());
  for (const auto& entry : fs::recursive_directory_iterator(tree))
    if (::lchown(entry.path().c_str(), *uid, *uid) != 0) throw system_error("chown");
}

std::string sortie_binary() { return std::string(SORTIE_BINARY_DIR) + "/app/sortie"; }

void copy_tree(const fs::path& from, const fs::path& to) {
  fs::create_directories(to.parent_path());
  fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
}

std::map<std::string, std::string> read_tree(const fs::path& root) {
  std::map<std::string, std::string> tree;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    struct stat status {};
    if (::lstat(entry.path().c_str(), &status) != 0) continue;
    std::string text = std::to_string(status.st_mode) + ":";
    if (S_ISLNK(status.st_mode)) {
      text += fs::read_symlink(entry.path()).string();
    } else if (S_ISREG(status.st_mode)) {
      std::ifstream in(entry.path(), std::ios::binary);
      text += std::string{std::istreambuf_iterator<char>(in), {}};
    }
    tree[entry.path().lexically_relative(root).string()] = std::move(text);
  }
  return tree;
}

std::vector<pid_t> processes_with(const std::string& text) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream in(entry.path() / "cmdline", std::ios::binary);
    // Not by an iterator of the buffer: that throws where the process has gone meanwhile.
    std::string line;
    std::getline(in, line, '\x01');
    if (line.find(text) != std::string::npos) found.push_back(std::stoi(name));
  }
  return found;
}

}  // namespace sortie::test
