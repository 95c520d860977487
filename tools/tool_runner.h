#pragma once

#include <functional>
#include <memory>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/agent/tool_host.h"
#include "core/base/clock.h"
#include "core/files/open_beneath.h"
#include "core/record/events.h"
#include "core/secrets/redact.h"
#include "policies/engine/engine.h"
#include "tools/approval_gate.h"
#include "tools/offered_tools.h"
#include "tools/tool.h"

namespace sortie {

/// Queries about the paths of the workspace. Each may be unset.
struct PathQuestions {
  /// Protected paths that have changed; a change ends the run.
  std::function<std::vector<std::string>()> protected_changes{};
  /// "A path", "M path", "D path" for each path touched since the last query.
  std::function<std::vector<std::string>()> touched_paths{};
  /// The changes behind these lines of touched_paths, for the record.
  std::function<std::vector<FileChange>(const std::vector<std::string>& touched,
                                        bool by_other_program)>
      file_changes{};
  /// Those of the last touched paths that have exactly the size that files may have.
  std::function<std::vector<std::string>()> files_at_limit{};
  /// Protected names that were created, and removed by sortie, since the last query.
  std::function<std::vector<std::string>()> made_paths{};
  /// Protected names that now lead through links to another place than at the start.
  std::function<std::vector<std::string>()> led_elsewhere{};
  /// Commands may write to the workspace, but not to the repository.
  bool repository_is_read_only = false;
};

/// Watches the protected paths around calls, and the paths that calls touch.
class PathWatch {
 public:
  explicit PathWatch(PathQuestions questions) : questions_(std::move(questions)) {}

  /// Call before each call: what was created earlier is not its doing. The next output still
  /// reports it.
  void before_call() { find_made(); }
  /// Why the run has to end, or "". Checked after each command, and before a call that has wider
  /// rights or belongs to another program.
  std::string changed_by_command();

  struct Findings {
    std::vector<std::string> remarks;  ///< for the model; "" for none
    std::string verdict;               ///< for the record; "" if the call is fine
    std::string ends_run;              ///< why the run has to end, or ""
    std::vector<std::string> touched;
    std::vector<FileChange> changes;  ///< the touched files, for the record
  };
  /// @param arguments  of the call, as JSON text
  Findings after_call(const ToolResult& result, const std::string& arguments);

 private:
  bool find_made();
  std::string remark_on_made();
  std::string remark_on_redirected();
  std::string remark_on_limit() const;
  std::string remark_on_repository(const ToolResult& result, const std::string& arguments) const;

  PathQuestions questions_;
  std::vector<std::string> made_;     ///< removed, not yet reported to the model
  std::set<std::string> redirected_;  ///< reported to the model, and still so
};

class SavedOutputs;

struct ToolRunnerOptions {
  std::size_t shown_output = 10u << 10;  ///< bytes of an output that the model sees
  int max_denials = 20;                  ///< in a row; then the run ends
  bool abort_on_denied = false;          ///< the first denial ends the run
  SavedOutputs* outputs = nullptr;       ///< keeps texts that are cut; null: they are not kept
  /// The recorded result of a call that is not to be run; nothing: it is run. May be unset.
  std::function<std::optional<ToolResult>(const ToolCall& call)> recorded{};
  /// What a call does whose own tool can't say it in a replay; nothing: it can. May be unset.
  std::function<std::optional<std::vector<Action>>(const ToolCall& call)> recorded_actions{};
  /// Adds what the record has after the changes of a call, and makes it again. May be unset.
  std::function<void(const ToolCall& call, std::vector<FileChange>& changes)> later_changes{};
  PathQuestions paths{};
  ApprovalOptions approval{};
  OfferOptions offer{};
};

/// Runs tool calls: finds the tool, reads the arguments, lets the gate decide, runs the call and
/// returns its record. The decision is emitted as an event before it takes effect; the loop emits
/// the call and its output.
class ToolRunner : public ToolHost {
 public:
  /// @param tools  in the order in which the model sees them; all other arguments outlive this
  ToolRunner(std::vector<std::unique_ptr<Tool>> tools, const Engine& engine, EventSink& events,
             const Redactor& redactor, const Clock& clock, ToolRunnerOptions options = {});

  std::vector<ToolSpec> specs() const override { return offered_.specs(); }
  Json origin(const ToolCall& call) const override;
  bool reads_only(const ToolCall& call) const override;
  std::unique_ptr<PendingCall> prepare(const ToolCall& call, int turn,
                                       std::stop_token stop) override;
  /// Runs the calls on up to four threads, which call nothing but Tool::run.
  void run(std::span<const std::unique_ptr<PendingCall>> calls, std::stop_token stop) override;
  /// Updates the tools of other programs. @return  whether any changed
  bool renew(std::stop_token stop) { return offered_.renew(std::move(stop)); }
  /// Goes on with the denials in a row of an earlier process.
  void take_up_denials(int denials) noexcept { denials_ = denials; }
  /// All names, including those of tools that the model does not see.
  std::vector<std::string> names() const { return offered_.names(); }

 private:
  class Running;

  std::unique_ptr<PendingCall> decide(const ToolCall& call, const OfferedTool& offered, int turn,
                                      std::stop_token stop);
  CallRecord unusable(const ToolCall& call, int turn, const std::string& check,
                      const std::string& text);
  CallRecord outside(const ToolCall& call, int turn, const LeadsOutside& error);
  CallRecord rejected(const ToolCall& call, const std::string& text) const;
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
