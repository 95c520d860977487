#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "core/agent/call_record.h"
#include "core/catalog/item.h"

namespace sortie {

/// A call that was decided on: to be run, or with its answer already there.
class PendingCall {
 public:
  virtual ~PendingCall() = default;
  /// Whether it is known by now that the run ends with it.
  virtual bool ends_run() const { return false; }
  /// Runs it, where it may run. On any thread; what it throws is kept for finish().
  virtual void run(std::stop_token stop) = 0;
  /// What became of it. Asked once, on the thread of the run.
  /// @throws Error  what ends the run
  virtual CallRecord finish() = 0;
};

/// The tools, as the loop sees them.
class ToolHost {
 public:
  virtual ~ToolHost() = default;
  /// In a stable order, so that requests keep their bytes.
  virtual std::vector<ToolSpec> specs() const = 0;
  /// {"server","tool"} where another program offers the tool that is called, else null.
  virtual Json origin(const ToolCall&) const { return {}; }
  /// Whether the call, as far as its tool goes, changes nothing and may run beside others like it.
  virtual bool reads_only(const ToolCall&) const { return false; }
  /// Finds the tool and decides on the call; what was decided is on record then. Always yields a
  /// call, also for what can't be used or is denied. Host and `call` outlive it.
  virtual std::unique_ptr<PendingCall> prepare(const ToolCall& call, int turn,
                                               std::stop_token stop) = 0;
  /// Runs calls of one response: several only where all of them read only.
  virtual void run(std::span<const std::unique_ptr<PendingCall>> calls, std::stop_token stop) {
    for (const auto& call : calls) call->run(stop);
  }
};

}  // namespace sortie
