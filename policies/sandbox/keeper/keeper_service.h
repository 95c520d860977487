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
#include "policies/sandbox/command/layer_set.h"
#include "policies/sandbox/command/limit_watch.h"
#include "policies/sandbox/command/private_set.h"
#include "policies/sandbox/profile.h"
#include "policies/sandbox/view/view.h"

namespace sortie {

/// What the keeper's process is given by the one that forks it.
struct KeeperStart {
  SandboxProfile profile;
  Fd socket;
  std::string path_variable;         ///< sortie's own PATH
  unsigned long new_namespaces = 0;  ///< the flags it was cloned with
  uid_t uid = 0;                     ///< its ids before that
  gid_t gid = 0;
  Fd group = {};  ///< the control group that commands are to be in; none: the keeper's own
  /// Set by detach_keeper(): the commands' own network, where the keeper stays outside.
  Fd network = {};
  Fd gate = {};  ///< set by the keeper: takes the commands' connect(2) listeners, or nothing
};

/// The keeper's work once the view stands: one loop over sockets, children and the time.
///
/// SIGCHLD is blocked. Over the socket come the requests that keeper_process.h has.
class KeeperService {
 public:
  /// @param start  outlives the service
  /// @throws Error  when a layer can't be prepared
  KeeperService(const KeeperStart& start, View view);

  const View& view() const { return view_; }
  /// Until the socket closes or says so.
  void serve();
  /// Ends every command. @return whether nothing is left
  bool end_all();

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
    std::optional<Ending> why;       ///< set where the keeper kills it
    std::string detail;
    std::shared_ptr<PrivateSet> set{};  ///< with others that run in it; none: the run's own
  };

  void wait();
  void on_message(Running& command);
  static void ask_to_end(const Running& command);
  static void end(Running& command, Ending why, const std::string& detail);
  void reap();
  void answer(const Running& command);
  void take_request();
  void start(const Fd& request, Fd control, std::vector<Fd> came);
  Fd hand_out_terminal(const Fd& control, const PrivateSet* set);
  void sample();

  const SandboxProfile& profile_;
  View view_;
  const Fd& socket_;
  const Fd& group_;
  Fd signals_;
  LayerSet layers_;
  PrivateSets sets_;
  LimitWatch watch_;
  std::list<Running> running_;
  Clock::time_point next_sample_ = Clock::time_point::max();
  bool quit_ = false;
};

}  // namespace sortie
