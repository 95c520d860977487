#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "core/record/events.h"
#include "core/record/run_history.h"
#include "core/secrets/redact.h"
#include "core/workspace/diff/file_digests.h"

namespace sortie {

/// Counts the connections that commands were allowed to open. Safe in every thread.
class OpenedConnections : public EventSink {
 public:
  void on(const RunEvent& event) override {
    const auto* connection = std::get_if<NetworkRecord>(&event.what);
    if (connection != nullptr && connection->state == ConnectionState::opened) ++count_;
  }
  std::uint64_t count() const noexcept { return count_; }

 private:
  std::atomic<std::uint64_t> count_ = 0;
};

/// Makes the events of the files that calls changed.
class CallChanges {
 public:
  /// @param view  as commands see the tree. All arguments outlive this
  CallChanges(const Workspace& workspace, const Files& view, const OpenedConnections& connections,
              const Redactor& redactor)
      : digests_(workspace, view), connections_(connections), redactor_(redactor) {}

  /// Goes on with the digests that an earlier process recorded.
  void take_up(const RunHistory& history);
  /// Goes on with what a call changed that was cut off.
  void take_up(const std::vector<FileChange>& changes);
  /// A call that a replay can't make again, since it used the network or is another program's,
  /// leaves the contents too, without secrets.
  /// @param touched  lines of TouchedPaths::take()
  std::vector<FileChange> take(const std::vector<std::string>& touched, bool by_other_program);

 private:
  FileDigests digests_;
  const OpenedConnections& connections_;
  const Redactor& redactor_;
  std::uint64_t connections_seen_ = 0;
};

}  // namespace sortie
