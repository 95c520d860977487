#include "tests/policies/sandbox/scene.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
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

int bind_loopback_6(const Fd& socket) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  socklen_t length = sizeof address;
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  // A machine without IPv6 has nothing to reach there: no control succeeds, and no attempt is made.
  if (::bind(socket.get(), raw, length) != 0) return 0;
  check(::getsockname(socket.get(), raw, &length) == 0, "getsockname");
  return ntohs(address.sin6_port);
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
  make_shared();
  start_victim();
}

Scene::~Scene() {
  victims_input_.reset();
  ::waitpid(ground_.victim, nullptr, 0);
  ::close(ground_.descriptor);
  ::unlink(ground_.shared.c_str());
  ::mq_unlink(ground_.queue.c_str());
  ::shmctl(ground_.segment, IPC_RMID, nullptr);
  ::msgctl(ground_.messages, IPC_RMID, nullptr);
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
  std::ofstream(folder_ / "outside/tool") << "#!/bin/sh\nexit 0\n";
  fs::permissions(folder_ / "outside/tool", fs::perms(0755));
  fs::create_symlink("treasure", folder_ / "outside/pointer");
  check(::mkfifo((folder_ / "outside/pipe").c_str(), 0600) == 0, "mkfifo");
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

  const auto bind_file = [&](const Fd& socket, const std::string& path) {
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    check(::bind(socket.get(), raw, sizeof address) == 0, "bind");
    check(::chmod(path.c_str(), 0777) == 0, "chmod");
  };
  bind_file(door_, ground_.outside + "/door");
  check(::listen(door_.get(), 64) == 0, "listen");
  letterbox_ = make(AF_UNIX, SOCK_DGRAM);
  bind_file(letterbox_, ground_.outside + "/letterbox");
  tcp6_ = make(AF_INET6, SOCK_STREAM);
  ground_.tcp6_port = tcp6_ ? bind_loopback_6(tcp6_) : 0;
  if (ground_.tcp6_port > 0) check(::listen(tcp6_.get(), 64) == 0, "listen");
}

/// What is shared by name or number, not by a folder.
void Scene::make_shared() {
  const std::string name = "/sortie-escape-" + std::to_string(::getpid()) + "-" +
                           std::to_string(reinterpret_cast<std::uintptr_t>(this));
  ground_.shared = "/dev/shm" + name;
  std::ofstream(ground_.shared) << "content\n";
  check(::chmod(ground_.shared.c_str(), 0600) == 0, "chmod");
  check(::chown(ground_.shared.c_str(), owner_, owner_) == 0, "chown");

  ground_.queue = name;
  const Fd queue(::mq_open(name.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600, nullptr));
  check(queue && ::fchown(queue.get(), owner_, owner_) == 0, "mq_open");

  ground_.segment = ::shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
  ground_.messages = ::msgget(IPC_PRIVATE, IPC_CREAT | 0600);
  shmid_ds segment{};
  msqid_ds messages{};
  check(::shmctl(ground_.segment, IPC_STAT, &segment) == 0, "shmctl");
  check(::msgctl(ground_.messages, IPC_STAT, &messages) == 0, "msgctl");
  segment.shm_perm.uid = messages.msg_perm.uid = owner_;
  check(::shmctl(ground_.segment, IPC_SET, &segment) == 0, "shmctl");
  check(::msgctl(ground_.messages, IPC_SET, &messages) == 0, "msgctl");

  terminal_ = Fd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  check(terminal_ && ::grantpt(terminal_.get()) == 0 && ::unlockpt(terminal_.get()) == 0, "pty");
  ground_.terminal = ::ptsname(terminal_.get());
  check(::chown(ground_.terminal.c_str(), owner_, owner_) == 0, "chown");
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
    ::setpgid(0, 0);  // a group that holds nobody else
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
  profile.hide = {"/etc/shadow", "/etc/gshadow"};
  profile.uid = owner_;
  profile.gid = owner_;
  profile.use_namespaces = false;
  return profile;
}

Ended in_child(uid_t user, const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork");
  if (child == 0) {
    // An attempt may end by a signal: it ends the child, and is no failure that Boost reports.
    for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP})
      ::signal(signal, SIG_DFL);
    become(user);
    ::_exit(body());
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return {0, WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

std::vector<std::string> possible_attempts(const Scene& scene, bool view) {
  std::vector<std::string> names;
  for (const escape::Attempt& attempt : escape::attempts()) {
    if (attempt.scope == escape::Scope::view && !view) continue;
    const uid_t user = attempt.control == escape::Control::root ? 0 : scene.owner();
    const Ended ended = in_child(user, [&] { return attempt.run(scene.ground()); });
    if (ended.code == 0 && ended.signal == 0) names.push_back(attempt.name);
  }
  return names;
}

}  // namespace sortie::test
