#include "policies/sandbox/keeper/keeper_process.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <exception>

#include "core/base/error.h"
#include "core/process/channel.h"
#include "policies/sandbox/keeper/keeper_messages.h"
#include "policies/sandbox/keeper/keeper_service.h"
#include "policies/sandbox/keeper/proxy_listener.h"
#include "policies/sandbox/keeper/settle.h"
#include "policies/sandbox/keeper/wire.h"
#include "policies/sandbox/layers/namespaces.h"
#include "policies/sandbox/view/build_view.h"
#include "policies/sandbox/view/view.h"

namespace sortie {
namespace {

View direct_view(const SandboxProfile& profile) {
  View view;
  const std::string folder = workspace_root(profile);
  view.workspace =
      Fd(::open(folder.empty() ? "/" : folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!view.workspace) throw system_error("open " + folder, ExitCode::environment);
  return view;
}

std::string ready_message(const View& view) {
  WireWriter writer;
  writer.number(static_cast<std::int64_t>(KeeperWord::ready));
  writer.texts(view.notes);
  return writer.bytes();
}

int keep(KeeperStart& start) {
  const SandboxProfile& profile = start.profile;
  try {
    settle(start);
    const auto user =
        (start.new_namespaces & CLONE_NEWUSER) != 0 ? UserNamespace::own : UserNamespace::machine;
    View view = profile.use_namespaces ? build_view(profile, start.path_variable, user)
                                       : direct_view(profile);
    if (profile.use_namespaces) bound_process_ids(profile.limits);
    Channel gate;
    if (has_connect_gate(profile)) gate = make_channel();
    start.gate = std::move(gate.theirs);
    KeeperService service(start, std::move(view));
    Fd listener;
    if (has_proxy_listener(profile)) listener = made_in_network(start.network, listen_for_proxy);
    std::vector<int> handed = {service.view().workspace.get()};
    if (gate.ours) handed.push_back(gate.ours.get());
    if (listener) handed.push_back(listener.get());
    if (!send_message(start.socket.get(), ready_message(service.view()), handed)) return 1;
    gate.ours.reset();
    listener.reset();
    service.serve();
    return service.end_all() ? 0 : 1;
  } catch (const std::exception& error) {
    WireWriter writer;
    writer.number(static_cast<std::int64_t>(KeeperWord::failed));
    writer.text(error.what());
    send_message(start.socket.get(), writer.bytes());
    return 1;
  }
}

}  // namespace

void keeper_main(KeeperStart start) { ::_exit(keep(start)); }

}  // namespace sortie
