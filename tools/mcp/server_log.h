#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>

#include "core/agent/events.h"
#include "tools/mcp/client.h"

namespace sortie::mcp {

/// Puts on record what becomes of one server and what it says beside its replies: its stderr, its
/// log, what is no message. All of that is bounded: nothing of what a server says may fill a
/// transcript.
class ServerLog : public Listener {
 public:
  /// @param turn  the one that is under way
  ServerLog(std::string server, EventSink& events, std::function<int()> turn)
      : server_(std::move(server)), events_(events), turn_(std::move(turn)) {}

  void remarked(const Remark& remark) override;
  void tell(McpServerRecord record);
  /// What was left out, once the server is gone.
  void finish();

 private:
  std::string server_;
  EventSink& events_;
  std::function<int()> turn_;
  std::mutex mutex_;
  std::size_t bytes_ = 0;  ///< recorded
  int records_ = 0;
  std::size_t left_out_ = 0;  ///< bytes
};

}  // namespace sortie::mcp
