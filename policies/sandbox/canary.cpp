#include "policies/sandbox/canary.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/files/path_below.h"
#include "core/json/json.h"
#include "core/process/process.h"
#include "policies/environment/environment.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// Listeners outside the sandbox, opened only for the canary, that it must not reach.
class Bait {
 public:
  Bait()
      : tcp_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
        udp_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
        abstract_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    tcp_port_ = bind_loopback(tcp_);
    udp_port_ = bind_loopback(udp_);
    ::listen(tcp_.get(), 1);
    // An empty name makes the kernel pick a free abstract one (unix(7), autobind).
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socklen_t length = sizeof address;
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    if (::bind(abstract_.get(), raw, sizeof(sa_family_t)) != 0 ||
        ::listen(abstract_.get(), 1) != 0 || ::getsockname(abstract_.get(), raw, &length) != 0)
      throw system_error("canary: abstract socket", ExitCode::environment);
    name_.assign(address.sun_path + 1, length - offsetof(sockaddr_un, sun_path) - 1);
  }

  void describe(Json& plan) const {
    plan.set("tcp", tcp_port_);
    plan.set("udp", udp_port_);
    plan.set("abstract", name_);
  }

  /// The listeners that were reached, or "".
  std::string caught() const {
    std::string what;
    for (const auto& [name, end] : {std::pair{"TCP", &tcp_}, std::pair{"UDP", &udp_},
                                    std::pair{"abstract socket", &abstract_}}) {
      pollfd poll{end->get(), POLLIN, 0};
      if (::poll(&poll, 1, 0) != 0) what += (what.empty() ? "" : ", ") + std::string(name);
    }
    return what;
  }

 private:
  static int bind_loopback(const Fd& socket) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket.get(), raw, length) != 0 || ::getsockname(socket.get(), raw, &length) != 0)
      throw system_error("canary: loopback", ExitCode::environment);
    return ntohs(address.sin_port);
  }

  Fd tcp_;
  Fd udp_;
  Fd abstract_;
  int tcp_port_ = 0;
  int udp_port_ = 0;
  std::string name_;
};

std::vector<fs::path> writable_places(const SandboxProfile& profile) {
  std::vector<fs::path> places = profile.writable;
  places.push_back(workspace_root(profile));
  places.push_back(profile.home);
  if (profile.use_namespaces) places.insert(places.end(), {"/tmp", "/var/tmp", "/dev/shm", "/dev"});
  return places;
}

/// Folders of the machine that a command must not write in.
Json outside_folders(const SandboxProfile& profile) {
  std::vector<fs::path> folders = {"/", "/usr", "/etc", "/opt", "/var", "/tmp"};
  folders.push_back(workspace_root(profile).parent_path());
  folders.push_back(profile.home.parent_path());
  if (const char* home = std::getenv("HOME")) folders.emplace_back(home);
  if (workspace_root(profile) != profile.mount.workspace)
    folders.push_back(profile.mount.workspace);
  folders.insert(folders.end(), {profile.mount.upper, profile.mount.work});
  folders.insert(folders.end(), profile.readable.begin(), profile.readable.end());
  const auto places = writable_places(profile);
  Json list = Json::array();
  for (const fs::path& folder : folders) {
    const auto covers = [&](const fs::path& place) { return is_below(folder, place); };
    if (!folder.is_absolute() || std::any_of(places.begin(), places.end(), covers)) continue;
    if (fs::is_directory(folder) && list.items().size() < 24) list.push_back(folder.string());
  }
  return list;
}

/// The machine's folders that are private in the view, by device and inode.
Json private_places(const SandboxProfile& profile) {
  Json list = Json::array();
  if (!profile.use_namespaces) return list;
  for (const char* path : {"/tmp", "/var/tmp", "/dev/shm", "/run"}) {
    struct stat status {};
    if (::stat(path, &status) != 0) continue;
    list.push_back(Json::object({{"path", path},
                                 {"device", std::to_string(status.st_dev)},
                                 {"inode", std::to_string(status.st_ino)}}));
  }
  return list;
}

bool is_glob(const std::string& text) { return text.find_first_of("*?[{") != std::string::npos; }

/// Without a mount namespace the protected paths are compared after each command instead.
Json protected_paths(const SandboxProfile& profile) {
  Json list = Json::array();
  if (!profile.use_namespaces) return list;
  for (const std::string& path : profile.protect) {
    const fs::path whole = workspace_root(profile) / path;
    if (!is_glob(path) && is_below(whole, workspace_root(profile))) list.push_back(whole.string());
  }
  return list;
}

/// Hidden paths that have something to hide.
Json hidden_paths(const SandboxProfile& profile) {
  Json list = Json::array();
  for (const std::string& path : profile.hide) {
    std::error_code error;
    if (path.empty() || path[0] != '/' || is_glob(path)) continue;
    if (fs::exists(path, error) && !fs::is_empty(path, error) && !error) list.push_back(path);
  }
  return list;
}

std::string namespace_inode(const char* path) {
  struct stat status {};
  return ::stat(path, &status) == 0 ? std::to_string(status.st_ino) : "";
}

void add_fingerprints(Json& plan, const std::vector<std::string>& secrets) {
  unsigned char bytes[16] = {};
  if (::getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
    throw system_error("getrandom", ExitCode::environment);
  std::string salt;
  for (const unsigned char byte : bytes) salt += std::to_string(byte);
  Json list = Json::array();
  for (const std::string& secret : secrets) {
    if (!secret.empty()) list.push_back(fingerprint(salt, secret));
  }
  plan.set("salt", salt);
  plan.set("fingerprints", list);
}

Json tried_limits(const PolicyLimits& limits) {
  Json list = Json::array();
  for (const ResourceLimit& limit : resource_limits(limits)) {
    if (limit.tried == nullptr) continue;
    list.push_back(Json::object({{"name", limit.tried},
                                 {"resource", static_cast<std::int64_t>(limit.resource)},
                                 {"most", static_cast<std::int64_t>(limit.most)}}));
  }
  return list;
}

Json plan_for(const SandboxProfile& profile) {
  const bool writable = profile.mode != SandboxMode::read_only && profile.workspace_writable;
  return Json::object({{"workspace", workspace_root(profile).string()},
                       {"writable", writable},
                       {"in_place", profile.mount.in_place},
                       {"namespaces", profile.use_namespaces},
                       {"traces", profile.tracing == Tracing::own},
                       {"network", name_of(profile.network)},
                       {"proxy_port", static_cast<std::int64_t>(kProxyPort)},
                       {"outside", outside_folders(profile)},
                       {"files", Json::array({"/etc/passwd", "/proc/sys/kernel/core_pattern"})},
                       {"private", private_places(profile)},
                       {"protect", protected_paths(profile)},
                       {"hidden", hidden_paths(profile)},
                       {"host_pid", static_cast<std::int64_t>(::getpid())},
                       {"pid_namespace", namespace_inode("/proc/self/ns/pid")},
                       {"net_namespace", namespace_inode("/proc/self/ns/net")},
                       {"limits", tried_limits(profile.limits)}});
}

std::string joined(const Json& list) {
  std::string text;
  for (const Json& item : list.items()) text += (text.empty() ? "" : "; ") + item.text();
  return text;
}

GuaranteeProof proof_from(Guarantee guarantee, const Json& findings, const std::string& no_report) {
  if (!findings.is_object()) return {guarantee, false, no_report, 0};
  const Json& failed = findings["failed"];
  const Json& tried = findings["tried"];
  const std::size_t attempts = tried.items().size();
  if (!failed.items().empty())
    return {guarantee, false, "not as promised: " + joined(failed), attempts};
  return {guarantee, attempts > 0, "tried: " + joined(tried), attempts};
}

/// The report, which is the last line with a JSON object; or an empty value.
Json report_in(const std::string& output) {
  const std::size_t begin = output.rfind("\n{");
  if (begin == std::string::npos) return {};
  try {
    return parse_json(std::string_view(output).substr(begin + 1));
  } catch (const JsonError&) {
    return {};
  }
}

void judge_network(GuaranteeProof& proof, const SandboxProfile& profile, const Bait& bait) {
  if (profile.network == NetworkMode::full) {
    proof.proved = false;
    proof.detail = std::string("network is ") + name_of(profile.network) + " by policy";
    return;
  }
  const std::string caught = bait.caught();
  if (caught.empty()) return;
  proof.proved = false;
  proof.detail = "reached a listener of the machine: " + caught;
}

/// Does something else while the command that it has started runs.
class BusyLauncher : public Launcher {
 public:
  BusyLauncher(Launcher& inner, const std::function<void()>& meanwhile)
      : inner_(inner), meanwhile_(meanwhile) {}
  std::unique_ptr<RunningCommand> start(const Command& command) override {
    auto running = inner_.start(command);
    if (meanwhile_) meanwhile_();
    return running;
  }
  std::chrono::milliseconds time_left() const override { return inner_.time_left(); }

 private:
  Launcher& inner_;
  const std::function<void()>& meanwhile_;
};

}  // namespace

std::vector<GuaranteeProof> run_canary(Launcher& launcher, const SandboxProfile& profile,
                                       const std::map<std::string, std::string>& environment,
                                       const std::vector<std::string>& secrets,
                                       const std::function<void()>& meanwhile) {
  const Bait bait;
  Json plan = plan_for(profile);
  add_fingerprints(plan, secrets);
  bait.describe(plan);
  Command command;
  command.canary = true;
  command.argv = {"canary", write_json(plan)};
  command.workdir = workspace_root(profile);
  command.environment = environment;
  command.timeout = std::chrono::seconds(10);
  std::string output;
  BusyLauncher busy(launcher, meanwhile);
  const ExitStatus status =
      run_command(busy, command, [&](std::string_view text) { output += text; }, {});
  const Json report = status.success() ? report_in(output) : Json();
  const std::string no_report = "the canary gave no report" +
                                (status.detail.empty() ? "" : ": " + status.detail) +
                                (output.empty() ? "" : ": " + output.substr(0, 300));
  std::vector<GuaranteeProof> proofs;
  for (const Guarantee guarantee : {Guarantee::writes, Guarantee::secrets, Guarantee::network,
                                    Guarantee::processes, Guarantee::kernel})
    proofs.push_back(proof_from(guarantee, report[name_of(guarantee)], no_report));
  judge_network(proofs[2], profile, bait);
  return proofs;
}

}  // namespace sortie
