#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/process/launcher.h"
#include "policies/sandbox/command/command_start.h"
#include "policies/sandbox/command/limit_watch.h"
#include "policies/sandbox/command/private_set.h"
#include "policies/sandbox/keeper/keeper_messages.h"
#include "policies/sandbox/profile.h"
#include "policies/sandbox/view/view.h"

namespace sortie {

/// The keeper's inputs from the process that forks it.
struct KeeperStart {
  SandboxProfile profile;
  bool awaits_profile = false;  ///< it is sent the profile, and the group (early_keeper.h)
  Fd socket;
  std::string path_variable;         ///< sortie's own PATH
  unsigned long new_namespaces = 0;  ///< the flags it was cloned with
  uid_t uid = 0;                     ///< its ids before that
  gid_t gid = 0;
  Fd group = {};  ///< the commands' control group; none: the keeper's own
  /// Set by detach_keeper(): the commands' own network, if the keeper stays outside of it.
  Fd network = {};
  Fd gate = {};  ///< set by the keeper: receives the commands' connect(2) listeners, or none
};

/// With this process's PATH and ids, and the namespaces that the profile needs; without the socket.
KeeperStart keeper_start(const SandboxProfile& profile);

/// The keeper's work after the view is built: one loop over sockets, children and the time.
///
/// SIGCHLD is blocked. The socket delivers the requests documented at keeper_main().
class KeeperService {
 public:
  /// @param start  outlives the service
  /// @throws Error  when a layer can't be prepared
  KeeperService(const KeeperStart& start, View view, ByKind<SeccompFilter> filters);

  const View& view() const { return view_; }
  /// Runs until the socket closes or the request "quit".
  void serve();
  /// Ends every command. @return whether nothing is left
  bool end_all();
  void date_end() const;

 private:
  using Clock = std::chrono::steady_clock;
  /// A command that runs.
  struct Running {
    pid_t first = 0;  ///< its first process
    Fd control;
    Fd report;
    Clock::time_point started = Clock::now();
    std::string name;
    std::uint64_t memory_kills = 0;  ///< of the group, before it started
    std::optional<Ending> why;       ///< set if the keeper kills it
    std::string detail;
    std::string exposed{};  ///< set if a mask fell while it ran: why its output can't be used
    std::shared_ptr<PrivateSet> set{};  ///< shared with other commands in it; null: the run's own
  };

  void wait();
  void check_masks();
  void on_message(Running& command);
  static void ask_to_end(const Running& command);
  static void end(Running& command, Ending why, const std::string& detail);
  void reap();
  void answer(const Running& command);
  void take_request();
  void make_tree(WireReader& reader, const Fd& answer);
  void start(const Fd& request, Fd control, std::vector<Fd> came);
  Fd hand_out_terminal(const Fd& control, const PrivateSet* set);
  void sample();

  const SandboxProfile& profile_;
  View view_;
  const Fd& socket_;
  const Fd& group_;
  Fd signals_;
  Fd mounts_;  ///< proc(5) mountinfo, which tells by poll(2) that mounts came or went; none: no masks
  LayerSet layers_;
  PrivateSets sets_;
  LimitWatch watch_;
  std::list<Running> running_;
  Clock::time_point next_sample_ = Clock::time_point::max();
  bool quit_ = false;
  std::string broken_{};  ///< why no command may be started any more
};

/// The main function of the keeper's process: closes and wipes everything that it was not given,
/// builds the view, reports that over the socket, serves until the socket closes, kills everything
/// and exits.
///
/// Over the socket: one that awaits its profile is sent that first, in a memory file, and with it the
/// commands' control group, if there is one. Each is sent the filters of the commands (send_filters). It
/// gives one answer ("ready" with the view's notes and root; or "failed" with the reason). Then it gets
/// requests ("start" with the memory file, the command's socket, and those of these that the command has:
/// the write end of its output, the read end of its input, the write end of its errors; "drop_set" with
/// the name of a private set to forget; "make_tree" with a SetTree and a socket for the answer: "ready"
/// with the tree's root, or "failed" with the reason; "quit"). Over a command's socket: the master if its
/// input is a terminal, in place of output and input; how it ended; and from the other side a byte, an
/// Ending: kill it.
/// Exit code 0: it is proved that no process is left.
[[noreturn]] void keeper_main(KeeperStart start);

}  // namespace sortie
