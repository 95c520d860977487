#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/agent/tool_host.h"
#include "core/base/clock.h"
#include "core/record/events.h"
#include "core/secrets/redact.h"
#include "policies/engine/engine.h"
#include "tools/approval_gate.h"
#include "tools/offered_tools.h"
#include "tools/path_watch.h"
#include "tools/tool.h"

namespace sortie {

class SavedOutputs;

struct ToolRunnerOptions {
  std::size_t shown_output = 10u << 10;  ///< bytes of an output that the model sees
  int max_denials = 20;                  ///< in a row; then the run ends
  bool abort_on_denied = false;          ///< the first denial ends the run
  SavedOutputs* outputs = nullptr;  ///< keeps the texts that are shown in part; null: nobody does
  PathQuestions paths{};
  ApprovalOptions approval{};
  OfferOptions offer{};
};

/// Runs the calls of tools: finds the one that is called, reads its arguments, has the gate decide,
/// runs it, and says all that became of it. What was decided is told to the event sink before its
/// effect; that a call came, and what it gave, is the loop's to tell.
class ToolRunner : public ToolHost {
 public:
  /// @param tools  in the order in which the model is shown them; all but `tools` outlive this
  ToolRunner(std::vector<std::unique_ptr<Tool>> tools, const Engine& engine, EventSink& events,
             const Redactor& redactor, const Clock& clock, ToolRunnerOptions options = {});

  std::vector<ToolSpec> specs() const override { return offered_.specs(); }
  Json origin(const ToolCall& call) const override;
  bool reads_only(const ToolCall& call) const override;
  std::unique_ptr<PendingCall> prepare(const ToolCall& call, int turn,
                                       std::stop_token stop) override;
  /// On up to four threads. Nothing but Tool::run is called there.
  void run(std::span<const std::unique_ptr<PendingCall>> calls, std::stop_token stop) override;
  /// Takes over what has become of the tools that come from elsewhere. @return  whether anything
  /// has
  bool renew(std::stop_token stop) { return offered_.renew(std::move(stop)); }
  /// Of all tools, also of those that the model is not shown.
  std::vector<std::string> names() const { return offered_.names(); }

 private:
  class Running;

  std::unique_ptr<PendingCall> decide(const ToolCall& call, const OfferedTool& offered, int turn,
                                      std::stop_token stop);
  CallRecord unusable(const ToolCall& call, int turn, const std::string& check,
                      const std::string& text);
  CallRecord misfit(const ToolCall& call, const std::string& text) const;
  CallRecord refuse(const ToolCall& call, const Decision& decision);
  CallRecord finish(Running& one);

  OfferedTools offered_;
  const Engine& engine_;
  EventSink& events_;
  const Redactor& redactor_;
  const Clock& clock_;
  ToolRunnerOptions options_;
  ApprovalGate gate_;
  PathWatch paths_;
  int denials_ = 0;  ///< in a row
};

}  // namespace sortie
