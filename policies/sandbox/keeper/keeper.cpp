#include "policies/sandbox/keeper/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <optional>

#include "core/base/error.h"
#include "core/process/channel.h"
#include "policies/sandbox/keeper/early_keeper.h"
#include "policies/sandbox/keeper/keeper_launcher.h"
#include "policies/sandbox/keeper/keeper_messages.h"
#include "policies/sandbox/keeper/keeper_service.h"
#include "policies/sandbox/keeper/machine_settings.h"
#include "policies/sandbox/layers/cgroup.h"
#include "policies/sandbox/layers/layers.h"
#include "policies/sandbox/layers/namespaces.h"

namespace sortie {
namespace {

constexpr int kEndWithinMilliseconds = 10'000;

/// sortie's handle of a keeper's process.
struct Kept {
  pid_t pid = -1;
  Fd socket;
  Fd view_root;
  Fd gate;
  Fd proxy_listener;
  std::vector<std::string> notes;
};

/// Reaps the keeper, killing it when it does not end by itself. @return its wait status
std::optional<int> wait_for(pid_t pid) {
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  pollfd wait{process.get(), POLLIN, 0};
  int ready = 0;
  do ready = process ? ::poll(&wait, 1, kEndWithinMilliseconds) : 1;
  while (ready < 0 && errno == EINTR);
  if (ready == 0) ::kill(pid, SIGKILL);
  int status = 0;
  pid_t reaped = 0;
  do reaped = ::waitpid(pid, &status, 0);
  while (reaped < 0 && errno == EINTR);
  return reaped == pid ? std::optional(status) : std::nullopt;
}

/// @throws Error  environment
ByKind<SeccompFilter> filters_for(const SandboxProfile& profile) {
  try {
    return compile_filters(profile);
  } catch (const Error& error) {
    throw Error(std::string("the sandbox can't be set up: ") + error.what(), ExitCode::environment);
  }
}

using Meanwhile = std::function<void(int pid)>;

/// @param failure  set where the kernel refuses one: then the process has no id
EarlyKeeper::Process fork_keeper(const SandboxProfile& profile, const RunGroup* group,
                                 std::string& failure) {
  Channel channel = make_channel();
  KeeperStart start = keeper_start(profile);
  const pid_t pid = clone_process(start.new_namespaces);
  if (pid == 0) {
    start.socket = std::move(channel.theirs);
    // A separate descriptor: the lock on the group stays with this program's.
    if (group != nullptr) start.group = Fd(::fcntl(group->folder().get(), F_DUPFD_CLOEXEC, 3));
    keeper_main(std::move(start));
  }
  if (pid < 0) failure = "clone: " + errno_text(errno);
  return {pid, std::move(channel.ours)};
}

/// Gives a keeper the filters and waits for its answer. Reaps one that has failed.
/// @param failure  set to the step that failed, when nothing is returned
std::optional<Kept> wait_for_view(EarlyKeeper::Process process, const SandboxProfile& profile,
                                  const Meanwhile& meanwhile, std::string& failure) {
  Kept kept{process.pid, std::move(process.socket), {}, {}, {}, {}};
  try {
    // While it builds the view, which takes longer.
    send_filters(kept.socket.get(), filters_for(profile));
    if (meanwhile) meanwhile(kept.pid);
  } catch (...) {
    kept.socket.reset();
    wait_for(kept.pid);
    throw;
  }
  ChannelMessage answer = receive_message(kept.socket.get(), Wait::yes);
  if (answer.closed) {
    failure = "the keeper died";
  } else {
    // The one without namespaces, the other with them: never both.
    const bool gate = has_connect_gate(profile);
    const bool listener = has_proxy_listener(profile);
    WireReader reader(answer.bytes);
    if (static_cast<KeeperWord>(reader.number()) == KeeperWord::ready &&
        answer.descriptors.size() == (gate || listener ? 2u : 1u)) {
      kept.notes = reader.texts();
      kept.view_root = std::move(answer.descriptors.front());
      if (gate) kept.gate = std::move(answer.descriptors.back());
      if (listener) kept.proxy_listener = std::move(answer.descriptors.back());
      return kept;
    }
    failure = reader.text();
  }
  kept.socket.reset();
  wait_for(kept.pid);
  if (meanwhile) meanwhile(-1);
  return std::nullopt;
}

/// @param early    used if it fits; null for none
/// @param failure  set to the step that failed, when nothing is returned
std::optional<Kept> make_keeper(const SandboxProfile& profile, const RunGroup* group,
                                EarlyKeeper* early, const Meanwhile& meanwhile,
                                std::string& failure) {
  if (early != nullptr) {
    auto process = early->take(profile, group != nullptr ? &group->folder() : nullptr);
    if (process.pid >= 0) {
      if (auto kept = wait_for_view(std::move(process), profile, meanwhile, failure)) return kept;
    } else if (meanwhile) {
      meanwhile(-1);
    }
  }
  auto process = fork_keeper(profile, group, failure);
  if (process.pid < 0) return std::nullopt;
  return wait_for_view(std::move(process), profile, meanwhile, failure);
}

/// Makes the keeper, with namespaces if they are wanted and available; else `layers.missing` gives
/// the reason.
Kept open_keeper(SandboxProfile& profile, const RunGroup* group, EarlyKeeper* early,
                 const Meanwhile& meanwhile, SandboxLayers& layers) {
  const bool direct = profile.mount.kind == MountPlan::Kind::direct;
  std::string failure;
  if (profile.mode == SandboxMode::none) profile.use_namespaces = false;
  // Since Linux 5.14 each user namespace has a count of its own.
  profile.counts_own_tasks = profile.use_namespaces && !is_admin() && kernel_is(5, 14);
  profile.shown_group = group != nullptr ? group->path() : own_group();
  if (profile.use_namespaces) {
    if (auto kept = make_keeper(profile, group, early, meanwhile, failure)) return std::move(*kept);
    layers.missing.push_back("namespaces: " + failure);
    if (!direct)
      throw Error("the sandbox's namespaces are not available here (" + failure + "): " +
                      remedy_for_namespaces(read_machine_settings()) + "; or use --isolation copy",
                  ExitCode::environment);
    profile.use_namespaces = false;
    profile.counts_own_tasks = false;
  } else if (!direct) {
    throw Error("without namespaces the workspace can't be mounted: use --isolation copy",
                ExitCode::environment);
  }
  if (early != nullptr) {
    early->end();
    if (meanwhile) meanwhile(-1);
  }
  auto kept = make_keeper(profile, group, nullptr, meanwhile, failure);
  if (!kept) throw Error("the sandbox can't be set up: " + failure, ExitCode::environment);
  return std::move(*kept);
}

std::unique_ptr<RunGroup> open_group(const SandboxProfile& profile, SandboxLayers& layers) {
  if (!profile.cgroup) return nullptr;
  return RunGroup::make({profile.memory_bytes, most_tasks(profile.limits)}, layers.notes);
}

}  // namespace

struct Keeper::State {
  State(SandboxProfile wanted, const Meanwhile& meanwhile, EarlyKeeper* early)
      : profile(std::move(wanted)),
        group(open_group(profile, layers)),
        kept(open_keeper(profile, group.get(), early, meanwhile, layers)),
        launcher(kept.socket) {}

  SandboxProfile profile;
  SandboxLayers layers;
  std::unique_ptr<RunGroup> group;
  Kept kept;
  KeeperLauncher launcher;
  std::optional<bool> clean;  ///< after the end
};

Keeper::Keeper(const SandboxProfile& profile, const std::function<void(int pid)>& meanwhile,
               EarlyKeeper* early)
    : state_(std::make_unique<State>(profile, meanwhile, early)) {
  SandboxLayers& layers = state_->layers;
  layers.namespaces = state_->profile.use_namespaces;
  layers.cgroup = state_->group != nullptr;
  if (profile.mode != SandboxMode::none) {
    layers.landlock_abi = LandlockRules::kernel_abi();
    layers.seccomp = true;
    if (layers.landlock_abi == 0) layers.missing.push_back("landlock: not in this kernel");
  }
  layers.connect_gate = static_cast<bool>(state_->kept.gate);
  for (auto& note : state_->kept.notes) layers.missing.push_back(std::move(note));
}

Keeper::~Keeper() { shut_down(); }

const Fd& Keeper::view_root() const { return state_->kept.view_root; }
Fd Keeper::take_connect_gate() { return std::move(state_->kept.gate); }
Fd Keeper::take_proxy_listener() { return std::move(state_->kept.proxy_listener); }
int Keeper::pid() const noexcept { return state_->kept.pid; }

const SandboxLayers& Keeper::layers() const { return state_->layers; }
Launcher& Keeper::launcher() { return state_->launcher; }

void Keeper::drop_private_set(const std::string& name) {
  WireWriter writer;
  writer.number(static_cast<std::int64_t>(KeeperWord::drop_set));
  writer.text(name);
  // A dead keeper has dropped them all.
  static_cast<void>(send_message(state_->kept.socket.get(), writer.bytes()));
}

Fd Keeper::make_tree(const SetTree& tree) {
  Channel answer = make_channel();
  WireWriter writer;
  writer.number(static_cast<std::int64_t>(KeeperWord::make_tree));
  add_set_tree(writer, tree);
  const bool sent = send_message(state_->kept.socket.get(), writer.bytes(), {answer.theirs.get()});
  answer.theirs.reset();  // so that the keeper's death is seen
  ChannelMessage message;
  if (sent) message = receive_message(answer.ours.get(), Wait::yes);
  if (message.bytes.empty()) throw Error("the keeper has died", ExitCode::environment);
  WireReader reader(message.bytes);
  if (static_cast<KeeperWord>(reader.number()) == KeeperWord::ready &&
      message.descriptors.size() == 1)
    return std::move(message.descriptors.front());
  throw Error(reader.text(), ExitCode::environment);
}

bool Keeper::shut_down() {
  if (state_->clean) return *state_->clean;
  state_->kept.socket.reset();
  const auto status = wait_for(state_->kept.pid);
  // Process 1 of a PID namespace is reaped after all others in it; without one, the keeper's exit
  // code reports whether it found any process left.
  const bool swept = status && (state_->profile.use_namespaces || *status == 0);
  const bool clean = (!state_->group || state_->group->end()) && swept;
  state_->clean = clean;
  return clean;
}

}  // namespace sortie
