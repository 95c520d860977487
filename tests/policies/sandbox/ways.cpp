#include "tests/policies/sandbox/ways.h"

#include <grp.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "core/base/fd.h"

namespace sortie::test {
namespace {

void become(uid_t uid) {
  if (::geteuid() != 0 || uid == 0) return;
  if (::setgroups(0, nullptr) != 0 || ::setresgid(uid, uid, uid) != 0 ||
      ::setresuid(uid, uid, uid) != 0)
    ::_exit(126);
  ::prctl(PR_SET_DUMPABLE, 1);
}

std::string run_body(const SandboxWay& way,
                     const std::function<std::string(Sandboxed& here)>& body) {
  try {
    Sandboxed here;
    if (!way.namespaces) {
      here.profile.use_namespaces = false;
      here.profile.home = here.base / "home";
      fs::create_directories(here.profile.home / "tmp");
      here.profile.mount = {.kind = MountPlan::Kind::direct, .workspace = here.workspace()};
      here.profile.mount.source = here.profile.mount.workspace;
    }
    return body(here);
  } catch (const std::exception& error) {
    return std::string("threw: ") + error.what() + '\n';
  }
}

/// A process that runs the body for one way, and what it has to say.
struct Child {
  pid_t pid = 0;
  Fd report;
};

std::string said_by(const Child& child) {
  std::string text;
  char buffer[4096];
  for (ssize_t count = 0; (count = ::read(child.report.get(), buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(count));
  int status = 0;
  ::waitpid(child.pid, &status, 0);
  if (status != 0) text += "the child ended with status " + std::to_string(status) + '\n';
  return text;
}

}  // namespace

std::vector<SandboxWay> sandbox_ways() {
  if (::geteuid() != 0)
    return {{"a user", ::geteuid(), true}, {"a user without namespaces", ::geteuid(), false}};
  return {{"root", 0, true},
          {"uid 1000", 1000, true},
          {"root without namespaces", 0, false},
          {"uid 1000 without namespaces", 1000, false}};
}

std::string found_wrong(const SandboxWay& way,
                        const std::function<std::string(Sandboxed& here)>& body) {
  return found_wrong_together({way}, body).front();
}

std::vector<std::string> found_wrong_together(
    const std::vector<SandboxWay>& ways, const std::function<std::string(Sandboxed& here)>& body) {
  std::vector<Child> children;
  for (const SandboxWay& way : ways) {
    Pipe pipe = make_pipe();
    const pid_t child = ::fork();
    if (child == 0) {
      become(way.uid);
      write_all(pipe.write.get(), run_body(way, body));
      ::_exit(0);
    }
    children.push_back({child, std::move(pipe.read)});
  }
  std::vector<std::string> wrong;
  for (const Child& child : children) wrong.push_back(said_by(child));
  return wrong;
}

}  // namespace sortie::test
