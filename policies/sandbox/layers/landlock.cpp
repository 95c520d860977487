#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/files/path_below.h"
#include "policies/sandbox/layers/layers.h"

namespace sortie {
namespace {

// linux/landlock.h up to ABI 7; the numbers are the kernel's interface and never change.
constexpr std::uint64_t kExecute = 1u << 0;
constexpr std::uint64_t kWriteFile = 1u << 1;
constexpr std::uint64_t kReadFile = 1u << 2;
constexpr std::uint64_t kReadFolder = 1u << 3;
constexpr std::uint64_t kRemoveFolder = 1u << 4;
constexpr std::uint64_t kRemoveFile = 1u << 5;
constexpr std::uint64_t kMakeFolder = 1u << 7;
constexpr std::uint64_t kMakeRegular = 1u << 8;
constexpr std::uint64_t kMakeSocket = 1u << 9;
constexpr std::uint64_t kMakeFifo = 1u << 10;
constexpr std::uint64_t kMakeSymlink = 1u << 12;
constexpr std::uint64_t kRefer = 1u << 13;        // ABI 2
constexpr std::uint64_t kTruncate = 1u << 14;     // ABI 3
constexpr std::uint64_t kIoctlDevice = 1u << 15;  // ABI 5

constexpr std::uint64_t kBindTcp = 1u << 0;     // ABI 4
constexpr std::uint64_t kConnectTcp = 1u << 1;  // ABI 4

constexpr std::uint64_t kAbstractSockets = 1u << 0;  // ABI 6
constexpr std::uint64_t kSignals = 1u << 1;          // ABI 6

constexpr std::uint32_t kVersionFlag = 1;
constexpr int kPathBeneath = 1;

struct RulesetAttributes {
  std::uint64_t files;
  std::uint64_t network;
  std::uint64_t scoped;
};

struct PathBeneath {
  std::uint64_t allowed;
  std::int32_t parent;
} __attribute__((packed));

constexpr std::uint64_t kRead = kExecute | kReadFile | kReadFolder;
// Device nodes are in no set: they can't be made anywhere.
constexpr std::uint64_t kWrite = kRead | kWriteFile | kRemoveFolder | kRemoveFile | kMakeFolder |
                                 kMakeRegular | kMakeSocket | kMakeFifo | kMakeSymlink | kRefer |
                                 kTruncate;
constexpr std::uint64_t kDevice = kReadFile | kWriteFile | kTruncate;
constexpr std::uint64_t kTerminal = kDevice | kReadFolder | kIoctlDevice;
constexpr std::uint64_t kOfFiles = kExecute | kWriteFile | kReadFile | kTruncate | kIoctlDevice;

std::uint64_t known_file_rights(int abi) {
  std::uint64_t rights = (1u << 13) - 1;
  if (abi >= 2) rights |= kRefer;
  if (abi >= 3) rights |= kTruncate;
  if (abi >= 5) rights |= kIoctlDevice;
  return rights;
}

/// The folders of the machine that a run without a mount namespace may read. In /dev and /sys only
/// what programs need: /dev/shm and /dev/pts hold the memory and terminals of the user's other
/// programs, and root's commands own the disks.
const char* const kSystemFolders[] = {"/usr",    "/bin", "/sbin", "/lib",  "/lib32",    "/lib64",
                                      "/libx32", "/etc", "/opt",  "/proc", kGroupFolder};
const char* const kDevices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                "/dev/urandom"};
// Only the view has a devpts of its own: the machine's has the user's terminals.
const char* const kOwnTerminals[] = {"/dev/ptmx", "/dev/pts"};

/// Whether it is a folder that the file's own permissions let a command list.
bool can_list(const std::filesystem::path& path, uid_t user) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return false;
  if (::geteuid() == user && user != 0) return ::access(path.c_str(), R_OK) == 0;
  return status.st_uid == user || (status.st_mode & S_IROTH) != 0;
}

/// Collects rules into a ruleset of the kernel.
class Builder {
 public:
  Builder(int ruleset, int abi, uid_t user)
      : ruleset_(ruleset), known_(known_file_rights(abi)), user_(user) {}

  void allow(const std::filesystem::path& path, std::uint64_t rights) {
    const Fd place(::open(path.c_str(), O_PATH | O_CLOEXEC));
    struct stat status {};
    if (!place || ::fstat(place.get(), &status) != 0) return;  // missing: nothing to allow
    if (!S_ISDIR(status.st_mode)) rights &= kOfFiles;
    const PathBeneath rule{rights & known_, place.get()};
    if (rule.allowed == 0) return;
    if (::syscall(SYS_landlock_add_rule, ruleset_, kPathBeneath, &rule, 0) != 0)
      throw system_error("landlock_add_rule " + path.string(), ExitCode::environment);
  }

  /// Landlock can only add rights, so a hidden place is left out by adding its siblings instead.
  /// The right to list a folder includes all folders below it: it is not given if that would list a
  /// hidden folder.
  void allow_read_except(const std::filesystem::path& path,
                         const std::vector<std::filesystem::path>& hidden) {
    const auto hides = [&](const auto& place) { return is_below(path, place); };
    if (std::any_of(hidden.begin(), hidden.end(), hides)) return;
    const auto holds = [&](const auto& place) { return is_below(place, path); };
    if (std::none_of(hidden.begin(), hidden.end(), holds)) return allow(path, kRead);
    std::error_code error;
    const auto shows = [&](const auto& place) { return holds(place) && can_list(place, user_); };
    if (std::none_of(hidden.begin(), hidden.end(), shows)) allow(path, kReadFolder);
    for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
      if (!entry.is_symlink(error)) allow_read_except(entry.path(), hidden);
    }
  }

 private:
  int ruleset_;
  std::uint64_t known_;
  uid_t user_;
};

/// No sockets in folders that commands with other rights can write too: a descriptor could be
/// passed from one to the other.
std::uint64_t shared_rights(const SandboxProfile& profile) {
  const bool differ = profile.may_escalate_writes || profile.may_escalate_network;
  return differ ? kWrite & ~kMakeSocket : kWrite;
}

/// The rights in a folder of the command's own set. A rule includes everything below, so no sockets
/// in a folder that contains a shared one either.
std::uint64_t private_rights(const SandboxProfile& profile, const std::filesystem::path& folder) {
  const auto& others = profile.writable;
  const bool holds_shared = is_below(workspace_root(profile), folder) ||
                            std::any_of(others.begin(), others.end(),
                                        [&](const auto& other) { return is_below(other, folder); });
  return holds_shared ? shared_rights(profile) : kWrite;
}

void allow_workspace(Builder& builder, const SandboxProfile& profile,
                     const CommandProfile& command) {
  const std::filesystem::path& workspace = workspace_root(profile);
  builder.allow(workspace, kRead);
  if (profile.mode == SandboxMode::read_only || command.read_only) return;
  const std::uint64_t rights = shared_rights(profile);
  if (profile.workspace_writable) return builder.allow(workspace, rights);
  for (const std::string& path : profile.workspace_write_only)
    builder.allow(workspace / path, rights);
}

void allow_machine(Builder& builder, const SandboxProfile& profile) {
  std::vector<std::filesystem::path> hidden;
  std::error_code error;
  for (const std::string& path : profile.hide) {
    if (path.empty() || path[0] != '/' || path.find_first_of("*?[") != std::string::npos) continue;
    hidden.push_back(std::filesystem::weakly_canonical(path, error));
  }
  for (const auto& path : profile.git.covered) hidden.push_back(path);
  // Nothing can be put in their place; git reads nothing at all without them.
  for (const auto& [path, text] : profile.git.files) hidden.push_back(path);
  for (const char* folder : kSystemFolders) builder.allow_read_except(folder, hidden);
  for (const char* folder : kMachineFolders) builder.allow_read_except(folder, hidden);
  for (const auto& path : profile.readable) builder.allow_read_except(path, hidden);
  for (const auto& path : profile.toolchains) builder.allow_read_except(path, hidden);
  for (const auto& path : profile.git.folders) builder.allow_read_except(path, hidden);
  if (profile.network == NetworkMode::full) {
    // /etc/resolv.conf is a link into these where a resolver service writes it.
    for (const char* folder : {"/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager"})
      builder.allow_read_except(folder, hidden);
  }
}

void allow_all(Builder& builder, const SandboxProfile& profile, const CommandProfile& command) {
  if (profile.use_namespaces) {
    // Everything in the view may be read; nothing else is below its root.
    builder.allow("/", kRead);
    for (const char* folder : {"/tmp", "/var/tmp", "/dev/shm"})
      builder.allow(folder, private_rights(profile, folder));
    for (const auto& folder : profile.toolchains)
      builder.allow(folder, private_rights(profile, folder));
    for (const char* terminal : kOwnTerminals) builder.allow(terminal, kTerminal);
  } else {
    // The machine's own /tmp is shared by all users: TMPDIR is below the private HOME instead.
    allow_machine(builder, profile);
  }
  for (const char* device : kDevices) builder.allow(device, kDevice);
  builder.allow("/dev/tty", kTerminal);
  builder.allow(profile.home, private_rights(profile, profile.home));
  for (const auto& path : profile.writable)
    builder.allow(path, command.read_only ? kRead : shared_rights(profile));
  allow_workspace(builder, profile, command);
}

RulesetAttributes attributes_for(const SandboxProfile& profile, int abi) {
  RulesetAttributes attributes{known_file_rights(abi), 0, 0};
  // With a network namespace the ports are on its own loopback: nothing to refuse. With the connect
  // gate only sortie connects; calls that passed the filter would end here.
  const bool ports = profile.network != NetworkMode::full && !profile.use_namespaces;
  if (abi >= 4 && ports) attributes.network = kBindTcp | kConnectTcp;
  if (abi >= 6) attributes.scoped = kAbstractSockets | kSignals;
  return attributes;
}

}  // namespace

int LandlockRules::kernel_abi() noexcept {
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, kVersionFlag);
  return abi < 0 ? 0 : static_cast<int>(abi);
}

LandlockRules::LandlockRules(const SandboxProfile& profile, const CommandProfile& command) {
  const int abi = kernel_abi();
  if (abi == 0 || profile.mode == SandboxMode::none) return;
  const RulesetAttributes attributes = attributes_for(profile, abi);
  // A kernel that knows fewer members takes the longer structure as long as the rest is zero.
  Fd ruleset(
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0)));
  if (!ruleset) throw system_error("landlock_create_ruleset", ExitCode::environment);
  Builder builder(ruleset.get(), abi, profile.uid);
  allow_all(builder, profile, command);
  ruleset_ = ruleset.release();
}

LandlockRules::~LandlockRules() {
  if (ruleset_ >= 0) ::close(ruleset_);
}

int LandlockRules::apply() const noexcept {
  if (ruleset_ < 0) return 0;
  return ::syscall(SYS_landlock_restrict_self, ruleset_, 0) == 0 ? 0 : errno;
}

}  // namespace sortie
