// The canary's attempts in the confined child. It may allocate: it is a process of its own with a
// single thread. Every attempt that succeeds is undone at once.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>

#include "core/base/fd.h"
#include "core/files/file_name.h"
#include "core/files/folder_stream.h"
#include "core/json/json.h"
#include "policies/environment/environment.h"
#include "policies/sandbox/canary.h"

namespace sortie {
namespace {

/// The attempts for one guarantee, and those with the wrong result.
class Findings {
 public:
  void holds(const std::string& what, bool does) { (does ? tried_ : failed_).push_back(what); }
  void fails(const std::string& what) { failed_.push_back(what); }
  Json json() const { return Json::object({{"tried", tried_}, {"failed", failed_}}); }

 private:
  Json tried_ = Json::array();
  Json failed_ = Json::array();
};

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  FolderStream entries(folder);
  while (const dirent* entry = entries.next()) names.emplace_back(entry->d_name);
  return names;
}

bool is_number(const std::string& name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
}

/// Up to a megabyte of a file; "" if it can't be read.
std::string content_of(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::string content;
  char buffer[4096];
  ssize_t count = 0;
  while (file && content.size() < (1u << 20) &&
         (count = ::read(file.get(), buffer, sizeof buffer)) > 0)
    content.append(buffer, static_cast<std::size_t>(count));
  return content;
}

// ---- writes ----

/// A new name each time: a canary that was killed may have left its own. By its form the run that
/// goes on knows it as no work of the agent.
std::string probe_in(const std::string& folder) {
  return folder + (folder == "/" ? "" : "/") + temporary_name();
}

bool can_create_in(const std::string& folder) {
  const std::string path = probe_in(folder);
  const Fd file(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
  if (file) ::unlink(path.c_str());
  return static_cast<bool>(file);
}

/// Without a name, so that a tree in which nothing may be made shows nothing meanwhile.
bool can_write_unnamed(const std::string& folder) {
  return static_cast<bool>(Fd(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600)));
}

bool can_rename(const std::string& path) {
  const std::string other = path + temporary_name();
  if (::rename(path.c_str(), other.c_str()) != 0) return false;
  ::rename(other.c_str(), path.c_str());
  return true;
}

bool can_open_to_write(const std::string& path) {
  return static_cast<bool>(Fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK)));
}

void try_protected(Findings& findings, const std::string& path) {
  struct stat status {};
  // Nothing can be mounted on a missing name: a file made there is removed afterwards.
  if (::lstat(path.c_str(), &status) != 0) return;
  // Nothing can be mounted on a link: the diff is checked for a change of it.
  if (S_ISLNK(status.st_mode)) return;
  if (S_ISDIR(status.st_mode)) {
    findings.holds("write in " + path, !can_create_in(path));
  } else if (S_ISREG(status.st_mode)) {
    findings.holds("write " + path, !can_open_to_write(path));
  }
  findings.holds("rename " + path, !can_rename(path));
}

void try_writes(Findings& findings, const Json& plan) {
  for (const std::string& folder : plan["outside"].texts())
    findings.holds("write in " + folder, !can_create_in(folder));
  for (const std::string& file : plan["files"].texts())
    findings.holds("write " + file, !can_open_to_write(file));
  for (const std::string& path : plan["protect"].texts()) try_protected(findings, path);
  for (const Json& place : plan["private"].items()) {
    struct stat status {};
    const std::string path = place.string_at("path");
    const bool same = ::stat(path.c_str(), &status) == 0 &&
                      std::to_string(status.st_dev) == place.string_at("device") &&
                      std::to_string(status.st_ino) == place.string_at("inode");
    findings.holds("reach the machine's " + path, !same);
  }
  const std::string workspace = plan.string_at("workspace");
  const bool writable = plan["writable"].boolean();
  const bool writes = plan["in_place"].boolean() && can_write_unnamed(workspace);
  findings.holds((writable ? "(must work) write in " : "write in ") + workspace,
                 (writes || can_create_in(workspace)) == writable);
  findings.holds("(must work) list " + workspace, ::access(workspace.c_str(), R_OK | X_OK) == 0);
}

// ---- secrets ----

class SecretSearch {
 public:
  explicit SecretSearch(const Json& plan)
      : salt_(plan.string_at("salt")), fingerprints_(plan["fingerprints"].texts()) {}

  /// The name of a variable that holds a secret, in a block as in /proc/PID/environ.
  std::optional<std::string> find(std::string_view block) const {
    while (!block.empty()) {
      const std::string_view entry = block.substr(0, block.find('\0'));
      block.remove_prefix(std::min(entry.size() + 1, block.size()));
      const std::size_t equals = entry.find('=');
      if (equals == std::string_view::npos) continue;
      const std::string name(entry.substr(0, equals));
      if (!fingerprints_.empty() &&
          contains(fingerprints_, fingerprint(salt_, entry.substr(equals + 1))))
        return name;
    }
    return std::nullopt;
  }

 private:
  static bool contains(const std::vector<std::string>& list, const std::string& text) {
    return std::find(list.begin(), list.end(), text) != list.end();
  }
  std::string salt_;
  std::vector<std::string> fingerprints_;
};

void try_processes_memory(Findings& findings, const SecretSearch& search) {
  const std::string own = std::to_string(::getpid());
  int others = 0;
  for (const std::string& pid : names_in("/proc")) {
    if (!is_number(pid) || pid == own) continue;
    ++others;
    if (const auto name = search.find(content_of("/proc/" + pid + "/environ")))
      findings.fails("read " + *name + " in /proc/" + pid + "/environ");
    if (Fd(::open(("/proc/" + pid + "/mem").c_str(), O_RDONLY | O_CLOEXEC)))
      findings.fails("open /proc/" + pid + "/mem");
  }
  findings.holds("read environment and memory of " + std::to_string(others) + " other processes",
                 true);
}

void try_descriptors(Findings& findings) {
  for (const std::string& name : names_in("/proc/self/fd")) {
    const int number = is_number(name) ? std::stoi(name) : 0;
    const int flags = number > 2 ? ::fcntl(number, F_GETFD) : -1;
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) findings.fails("use inherited descriptor " + name);
  }
  findings.holds("find inherited descriptors", true);
}

void try_secrets(Findings& findings, const Json& plan) {
  const SecretSearch search(plan);
  bool clean = true;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const auto name = search.find(*entry);
    if (name) findings.fails("read " + *name + " in the environment");
    clean = clean && !name;
  }
  findings.holds("find a secret in the environment", clean);
  try_processes_memory(findings, search);
  for (const std::string& path : plan["hidden"].texts()) {
    findings.holds("read " + path, content_of(path).empty() && names_in(path).empty());
  }
  try_descriptors(findings);
}

// ---- network ----

sockaddr_in address_of(const char* host, std::int64_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  ::inet_pton(AF_INET, host, &address.sin_addr);
  return address;
}

bool can_connect(int type, const char* host, std::int64_t port) {
  const Fd socket(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
  const sockaddr_in to = address_of(host, port);
  if (!socket || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
    return false;
  if (type == SOCK_DGRAM) return ::send(socket.get(), "canary", 6, MSG_NOSIGNAL) == 6;
  return true;
}

bool can_connect_abstract(const std::string& name) {
  const Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path + 1, name.data(), std::min(name.size(), sizeof to.sun_path - 1));
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return socket && ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), length) == 0;
}

bool loopback_works() {
  const Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = address_of("127.0.0.1", 0);
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof address;
  return listener && ::bind(listener.get(), raw, length) == 0 && ::listen(listener.get(), 1) == 0 &&
         ::getsockname(listener.get(), raw, &length) == 0 &&
         can_connect(SOCK_STREAM, "127.0.0.1", ntohs(address.sin_port));
}

/// If it is unknown, as without /proc, the namespace counts as shared.
bool in_namespace(const char* path, const std::string& inode) {
  struct stat status {};
  return ::stat(path, &status) != 0 || std::to_string(status.st_ino) == inode;
}

/// Asks for a name that no list has: in a reserved domain (RFC 2606), at an unused port.
bool is_refused_by_proxy(std::int64_t port) {
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in to = address_of(kProxyAddress, port);
  const timeval patience{5, 0};
  const std::string_view request = "CONNECT sortie-canary.invalid:1 HTTP/1.1\r\n\r\n";
  if (!socket ||
      ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0 ||
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0 ||
      !write_all(socket.get(), request))
    return false;
  const std::string_view refused = "HTTP/1.1 403 ";
  char answer[32] = {};
  return ::recv(socket.get(), answer, refused.size(), MSG_WAITALL) ==
             static_cast<ssize_t>(refused.size()) &&
         std::string_view(answer) == refused;
}

/// Without a bind(2) before it, listen(2) picks a port.
bool can_open_port() {
  const Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return listener && ::listen(listener.get(), 1) == 0;
}

void try_network(Findings& findings, const Json& plan) {
  const bool through_proxy = plan.string_at("network") == "allow-list";
  if (plan.string_at("network") == "full") return;
  findings.holds("connect to the machine's loopback (TCP)",
                 !can_connect(SOCK_STREAM, "127.0.0.1", plan.integer_at("tcp")));
  // Whether this datagram arrives is seen at the other end.
  can_connect(SOCK_DGRAM, "127.0.0.1", plan.integer_at("udp"));
  findings.holds("send to 192.0.2.1 (UDP)", !can_connect(SOCK_DGRAM, "192.0.2.1", 9));
  findings.holds("connect to an abstract socket of the machine",
                 !can_connect_abstract(plan.string_at("abstract")));
  if (through_proxy)
    findings.holds("(must work) be refused a host that is not listed by the proxy",
                   is_refused_by_proxy(plan.integer_at("proxy_port")));
  if (!plan["namespaces"].boolean())
    return findings.holds("open a port of the machine", !can_open_port());
  findings.holds("stay in the machine's network namespace",
                 !in_namespace("/proc/self/ns/net", plan.string_at("net_namespace")));
  findings.holds("(must work) use the loopback inside", loopback_works());
}

// ---- processes ----

void try_limit(Findings& findings, const Json& limit) {
  rlimit now{};
  const auto resource = static_cast<__rlimit_resource>(limit.integer_at("resource"));
  const bool limited = ::getrlimit(resource, &now) == 0 &&
                       now.rlim_max <= static_cast<rlim_t>(limit.integer_at("most"));
  findings.holds("exceed the limit of " + limit.string_at("name"), limited);
}

void try_processes(Findings& findings, const Json& plan) {
  const bool shared = in_namespace("/proc/self/ns/pid", plan.string_at("pid_namespace"));
  if (plan["namespaces"].boolean()) {
    findings.holds("stay in the machine's process namespace", !shared);
    findings.holds("signal any other process", ::kill(-1, 0) != 0 && errno == ESRCH);
    char self[32] = {};
    const ssize_t length = ::readlink("/proc/self", self, sizeof self - 1);
    findings.holds("see the machine's /proc", length > 0 && std::to_string(::getpid()) == self);
  } else {
    const auto host = static_cast<pid_t>(plan.integer_at("host_pid"));
    findings.holds("signal sortie itself", ::kill(host, 0) != 0);
  }
  for (const Json& limit : plan["limits"].items()) try_limit(findings, limit);
}

// ---- kernel ----

bool has_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2]{};
  if (::syscall(SYS_capget, &header, sets) != 0) return true;
  return std::any_of(std::begin(sets), std::end(sets), [](const auto& set) {
    return (set.effective | set.permitted | set.inheritable) != 0;
  });
}

/// Tries calls that would change or end this process in a child: 1: made a user namespace, 2: a
/// 32-bit system call was answered, or their sum; 4: unknown.
int got_in_child() {
  const pid_t child = ::fork();
  if (child < 0) return 4;
  if (child == 0) {
    const int got = ::unshare(CLONE_NEWUSER) == 0 ? 1 : 0;
#ifdef __x86_64__
    // Killed for it, the child leaves no exit code: then the namespace counts as tried before.
    if (got != 0) ::_exit(got);
    long result = 20;  // getpid in the i386 table
    __asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
    if (result > 0) ::_exit(2);
#endif
    ::_exit(got);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return 4;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

/// These calls change nothing if they are not refused.
void try_kernel(Findings& findings, bool traces) {
  findings.holds("run without no_new_privs", ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
  findings.holds("run without a system call filter", ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2);
  findings.holds("have capabilities", !has_capabilities());
  const auto refused = [&](const char* name, long result) {
    findings.holds(name, result < 0 && errno == EPERM);
  };
  refused("mount", ::mount("none", "/no/such/folder", "tmpfs", 0, nullptr));
  // Where a command may trace what it starts: not the process of sortie that started it.
  refused("ptrace", traces ? ::ptrace(PTRACE_SEIZE, ::getppid(), nullptr, nullptr)
                           : ::ptrace(PTRACE_CONT, ::getpid(), nullptr, nullptr));
  refused("bpf", ::syscall(SYS_bpf, 0, nullptr, 0));
  refused("keyctl", ::syscall(SYS_keyctl, 0, -3, 0, 0, 0));
  refused("io_uring", ::syscall(SYS_io_uring_setup, 1, nullptr));
  const int got = got_in_child();
  findings.holds("make a user namespace", (got & 5) == 0);
  findings.holds("call by the 32-bit door", (got & 6) == 0);
}

}  // namespace

int canary_main(int argc, char** argv) {
  if (argc < 2) return 2;
  try {
    const Json plan = parse_json(argv[1]);
    Findings writes, secrets, network, processes, kernel;
    try_writes(writes, plan);
    try_secrets(secrets, plan);
    try_network(network, plan);
    try_processes(processes, plan);
    try_kernel(kernel, plan["traces"].boolean());
    const Json report = Json::object({{"writes", writes.json()},
                                      {"secrets", secrets.json()},
                                      {"network", network.json()},
                                      {"processes", processes.json()},
                                      {"kernel", kernel.json()}});
    return write_all(1, "\n" + write_json(report) + "\n") ? 0 : 1;
  } catch (const std::exception& failure) {
    write_all(2, std::string("canary: ") + failure.what() + "\n");
    return 1;
  }
}

}  // namespace sortie
