#include "tests/policies/sandbox/scene.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace sortie::test {
namespace {

namespace fs = std::filesystem;

void check(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what + ": " + std::strerror(errno));
}

void become(uid_t user) {
  if (::geteuid() != 0 || user == 0) return;
  const bool done = ::setgroups(0, nullptr) == 0 && ::setresgid(user, user, user) == 0 &&
                    ::setresuid(user, user, user) == 0 && ::prctl(PR_SET_DUMPABLE, 1) == 0;
  if (!done) ::_exit(126);
}

int bind_loopback(const Fd& socket) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  check(::bind(socket.get(), raw, length) == 0, "bind");
  check(::getsockname(socket.get(), raw, &length) == 0, "getsockname");
  return ntohs(address.sin_port);
}

}  // namespace

Scene::Scene(uid_t owner) : owner_(owner) {
  make_files();
  make_listeners();
  start_victim();
}

Scene::~Scene() {
  victims_input_.reset();
  ::waitpid(ground_.victim, nullptr, 0);
  ::close(ground_.descriptor);
}

void Scene::make_files() {
  fs::permissions(folder_.path(), fs::perms(0755));
  ground_.workspace = (folder_ / "workspace").string();
  ground_.outside = (folder_ / "outside").string();
  for (const char* name :
       {"workspace/.git", "outside", "home/tmp", "tools", "state/upper", "state/work"})
    fs::create_directories(folder_ / name);
  for (const char* name :
       {"workspace/.git/config", "workspace/file", "outside/treasure", "outside/spare"})
    std::ofstream(folder_ / name) << "content\n";
  const std::string escape = SORTIE_BINARY_DIR "/tests/policies/sandbox/escape";
  fs::copy_file(escape, tools() / "escape");
  fs::copy_file(escape, tools() / "privileged");
  ground_.program = (tools() / "privileged").string();
  fs::permissions(ground_.program, fs::perms(04755));
  for (const char* top : {"workspace", "outside", "home", "state"}) {
    check(::lchown((folder_ / top).c_str(), owner_, owner_) == 0, "chown");
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / top))
      check(::lchown(entry.path().c_str(), owner_, owner_) == 0, "chown");
  }
  const int descriptor = ::open((folder_ / "outside/treasure").c_str(), O_RDWR);
  ground_.descriptor = ::fcntl(descriptor, F_DUPFD, 200);
  ::close(descriptor);
}

void Scene::make_listeners() {
  const auto make = [](int family, int type) {
    return Fd(::socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  };
  tcp_ = make(AF_INET, SOCK_STREAM);
  udp_ = make(AF_INET, SOCK_DGRAM);
  abstract_ = make(AF_UNIX, SOCK_STREAM);
  door_ = make(AF_UNIX, SOCK_STREAM);
  ground_.tcp_port = bind_loopback(tcp_);
  ground_.udp_port = bind_loopback(udp_);
  check(::listen(tcp_.get(), 64) == 0, "listen");

  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof address;
  check(::bind(abstract_.get(), raw, sizeof(sa_family_t)) == 0, "bind");
  check(::listen(abstract_.get(), 64) == 0, "listen");
  check(::getsockname(abstract_.get(), raw, &length) == 0, "getsockname");
  ground_.abstract.assign(address.sun_path + 1, length - offsetof(sockaddr_un, sun_path) - 1);

  const std::string path = ground_.outside + "/door";
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  check(::bind(door_.get(), raw, sizeof address) == 0, "bind");
  check(::listen(door_.get(), 64) == 0 && ::chmod(path.c_str(), 0777) == 0, "listen");
}

void Scene::start_victim() {
  Pipe input = make_pipe();
  Pipe started = make_pipe();
  std::string program = (tools() / "escape").string();
  char wait[] = "wait";
  char marker[] = "MARKER=treasure";
  ground_.victim = ::fork();
  if (ground_.victim == 0) {
    become(owner_);
    ::dup2(input.read.get(), 0);
    char* const argv[] = {program.data(), wait, nullptr};
    char* const environment[] = {marker, nullptr};
    ::execve(program.c_str(), argv, environment);
    ::_exit(127);
  }
  check(ground_.victim > 0, "fork");
  started.write.reset();
  char byte = 0;
  check(::read(started.read.get(), &byte, 1) == 0, "exec");  // the child's end closes at exec
  victims_input_ = std::move(input.write);
}

SandboxProfile Scene::profile() const {
  SandboxProfile profile;
  profile.mount.kind = MountPlan::Kind::direct;
  profile.mount.workspace = profile.mount.source = workspace();
  profile.home = home();
  profile.readable = {tools()};
  profile.protect = {".git", "AGENTS.md"};
  profile.hide = {"/etc/shadow"};
  profile.uid = owner_;
  profile.gid = owner_;
  profile.use_namespaces = false;
  return profile;
}

Ended in_child(uid_t user, const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork");
  if (child == 0) {
    become(user);
    ::_exit(body());
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return {0, WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

}  // namespace sortie::test
