#include "policies/sandbox/keeper/early_keeper.h"

#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/process/channel.h"
#include "policies/sandbox/keeper/keeper_messages.h"
#include "policies/sandbox/keeper/keeper_service.h"
#include "policies/sandbox/keeper/profile_message.h"
#include "policies/sandbox/layers/namespaces.h"

namespace sortie {

std::unique_ptr<EarlyKeeper> EarlyKeeper::fork() {
  try {
    Channel channel = make_channel();
    KeeperStart start = keeper_start({});
    start.awaits_profile = true;
    // It must not run this program's handlers before it has dropped them.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, &before);
    const pid_t pid = clone_process(start.new_namespaces);
    if (pid == 0) {
      start.socket = std::move(channel.theirs);
      keeper_main(std::move(start));
    }
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    if (pid < 0) return nullptr;
    return std::unique_ptr<EarlyKeeper>(
        new EarlyKeeper({pid, std::move(channel.ours)}, start.new_namespaces));
  } catch (const Error&) {
    return nullptr;
  }
}

EarlyKeeper::Process EarlyKeeper::take(const SandboxProfile& profile, const Fd* group) {
  const bool fits =
      process_.pid >= 0 && profile.use_namespaces && run_namespaces(profile) == namespaces_;
  if (fits) {
    const Fd file = memory_file("profile", encode_profile(profile));
    std::vector<int> handed = {file.get()};
    if (group != nullptr) handed.push_back(group->get());
    if (send_message(process_.socket.get(), "profile", handed)) return std::exchange(process_, {});
  }
  end();
  return {};
}

void EarlyKeeper::end() noexcept {
  if (process_.pid < 0) return;
  ::kill(process_.pid, SIGKILL);
  while (::waitpid(process_.pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  process_ = {};
}

}  // namespace sortie
