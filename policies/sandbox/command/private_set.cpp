#include "policies/sandbox/command/private_set.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/files/path_below.h"
#include "policies/sandbox/layers/namespaces.h"
#include "policies/sandbox/layers/process_tree.h"
#include "policies/sandbox/view/private_folders.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr const char* kReadOnly = "read-only";

Fd open_namespace(const char* name) {
  const std::string path = std::string("/proc/self/ns/") + name;
  Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) throw system_error("open " + path, ExitCode::environment);
  return file;
}

/// Returns this process, the keeper, to its own namespaces at the end of a block. If that fails it
/// must not start another command: it exits, and all commands end with it.
class Return {
 public:
  explicit Return(const KeeperNamespaces& keeper) : keeper_(keeper) {}
  Return(const Return&) = delete;
  Return& operator=(const Return&) = delete;
  ~Return() {
    if (::setns(keeper_.ipc.get(), CLONE_NEWIPC) != 0 ||
        ::setns(keeper_.mounts.get(), CLONE_NEWNS) != 0)
      ::_exit(1);
  }

 private:
  const KeeperNamespaces& keeper_;
};

void enter(const Fd& space, int kind, const char* what) {
  if (::setns(space.get(), kind) != 0)
    throw system_error(std::string("enter a private set's ") + what, ExitCode::environment);
}

}  // namespace

PrivateSet::PrivateSet(const Source& source, Network network, int number, const SetTreeMounts* tree)
    : source_(source) {
  if (source.profile.use_namespaces)
    make_namespaces(network, tree);
  else
    make_home(number);
}

void PrivateSet::make_namespaces(Network network, const SetTreeMounts* tree) {
  if (network == Network::own) network_ = make_network();
  const Return back(source_.keeper);
  if (::unshare(CLONE_NEWNS | CLONE_NEWIPC) != 0)
    throw system_error("unshare for a private set", ExitCode::environment);
  folders_.emplace(renew_private_folders(source_.profile, source_.view));
  if (tree != nullptr)
    tree_root_ = mount_set_tree(*tree, source_.profile, source_.view, folders_->path());
  mounts_ = open_namespace("mnt");
  ipc_ = open_namespace("ipc");
}

void PrivateSet::make_home(int number) {
  const SandboxProfile& profile = source_.profile;
  home_ = profile.home.parent_path() / ("home-" + std::to_string(number));
  std::error_code error;
  fs::create_directories(home_ / "tmp", error);
  if (error) throw Error(home_.string() + ": " + error.message(), ExitCode::environment);
  for (const auto& folder : {home_, home_ / "tmp"})
    if (::chown(folder.c_str(), profile.uid, profile.gid) != 0)
      throw system_error("chown " + folder.string(), ExitCode::environment);
}

CommandPlaces PrivateSet::places_for(const CommandLayers& layers, bool read_only) {
  auto& rules = rules_[{&layers, read_only}];
  if (!rules) {
    // Rules apply to the files at the paths, which are different in the set.
    std::optional<Return> back;
    if (mounts_) {
      back.emplace(source_.keeper);
      enter(mounts_, CLONE_NEWNS, "mounts");
    }
    SandboxProfile profile = layers.profile;
    if (!home_.empty()) profile.home = home_;
    rules = std::make_unique<LandlockRules>(profile, CommandProfile{.read_only = read_only});
  }
  return {
      .mounts = mounts_.get(), .ipc = ipc_.get(), .network = network_.get(), .rules = rules.get()};
}

Terminal PrivateSet::new_terminal() const {
  const SandboxProfile& profile = source_.profile;
  if (!mounts_) return open_terminal(profile.uid, profile.gid);
  const Return back(source_.keeper);
  enter(mounts_, CLONE_NEWNS, "mounts");
  return open_terminal(profile.uid, profile.gid);
}

void PrivateSet::in_view(const std::function<void()>& act) const {
  if (!mounts_) return;
  const Return back(source_.keeper);
  enter(mounts_, CLONE_NEWNS, "mounts");
  act();
}

void PrivateSet::adapt(std::map<std::string, std::string>& environment) const {
  if (home_.empty()) return;
  const std::string& before = source_.profile.home.native();
  for (auto& [name, value] : environment)
    if (value.starts_with('/') && is_below(value, before))
      value = home_.native() + value.substr(before.size());
}

std::uint64_t PrivateSet::kept_bytes() const {
  struct statvfs use {};
  if (!folders_ || ::fstatvfs(folders_->root().get(), &use) != 0) return 0;
  return static_cast<std::uint64_t>(use.f_blocks - use.f_bfree) * use.f_frsize;
}

std::uint64_t PrivateSet::segment_bytes() const {
  if (!ipc_) return 0;
  const Return back(source_.keeper);
  enter(ipc_, CLONE_NEWIPC, "IPC namespace");
  return shared_segments();
}

PrivateSets::PrivateSets(const SandboxProfile& profile, const View& view)
    : source_{profile, view, keeper_} {
  if (!profile.use_namespaces) return;
  keeper_.mounts = open_namespace("mnt");
  keeper_.ipc = open_namespace("ipc");
}

/// A read-only command among writing ones must not leave files for them either.
std::string PrivateSets::name_for(const Command& command) const {
  if (!command.private_set.empty()) return "named " + command.private_set;
  const bool lesser = command.read_only && source_.profile.mode != SandboxMode::read_only;
  return lesser ? kReadOnly : "";
}

std::shared_ptr<PrivateSet> PrivateSets::of(const Command& command) {
  if (command.private_set_alone) return make(command);
  const std::string name = name_for(command);
  if (name.empty()) return nullptr;
  auto& set = named_[name];
  if (!set) set = make(command);
  return set;
}

std::shared_ptr<PrivateSet> PrivateSets::make(const Command& command) {
  const SandboxProfile& profile = source_.profile;
  // With other rights not even the loopback is shared, unless the proxy listens there.
  const bool alone = (command.private_set_alone || command.writes) && !command.open_network &&
                     profile.use_namespaces && profile.network == NetworkMode::none;
  const auto network = alone ? PrivateSet::Network::own : PrivateSet::Network::of_run;
  return keep(std::make_shared<PrivateSet>(source_, network, ++count_));
}

/// A verification's own network, too: what the agent's commands or its servers listen on is no part
/// of what is verified.
Fd PrivateSets::make_with_tree(const SetTree& tree) {
  if (!source_.profile.use_namespaces)
    throw Error("a private set can't mount a tree here", ExitCode::environment);
  const bool alone = source_.profile.network == NetworkMode::none;
  const auto network = alone ? PrivateSet::Network::own : PrivateSet::Network::of_run;
  const SetTreeMounts mounts = open_set_tree(tree, source_.view);
  auto set = keep(std::make_shared<PrivateSet>(source_, network, ++count_, &mounts));
  named_["named " + tree.set] = set;
  return set->take_tree_root();
}

std::shared_ptr<PrivateSet> PrivateSets::keep(std::shared_ptr<PrivateSet> set) {
  std::erase_if(all_, [](const auto& one) { return one.expired(); });
  all_.push_back(set);
  return set;
}

void PrivateSets::drop(const std::string& name) { named_.erase("named " + name); }

void PrivateSets::in_each_view(const std::function<void()>& act) const {
  for (const auto& one : all_)
    if (const auto set = one.lock()) set->in_view(act);
}

std::uint64_t PrivateSets::kept_bytes() const {
  std::uint64_t sum = 0;
  for (const auto& one : all_)
    if (const auto set = one.lock()) sum += set->kept_bytes();
  return sum;
}

std::uint64_t PrivateSets::segment_bytes() const {
  std::uint64_t sum = 0;
  for (const auto& one : all_)
    if (const auto set = one.lock()) sum += set->segment_bytes();
  return sum;
}

}  // namespace sortie
