#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/agent/events.h"
#include "core/agent/tool_host.h"
#include "core/base/clock.h"
#include "core/json/json_schema.h"
#include "core/secrets/redact.h"
#include "policies/engine/engine.h"
#include "tools/call_judge.h"
#include "tools/tool.h"
#include "tools/tool_source.h"

namespace sortie {

class WholeOutputs;

struct RegistryOptions {
  std::size_t shown_output = 10u << 10;  ///< bytes of an output that the model sees
  int max_denials = 20;                  ///< in a row; then the run ends
  bool abort_on_denied = false;          ///< the first denial ends the run
  /// Asked after each command where it is set, and before what has wider rights or is another
  /// program's: protected paths that have changed. Any ends the run.
  std::function<std::vector<std::string>()> protected_changes{};
  /// "A path", "M path", "D path" of what was touched since it was asked last, for the record of a
  /// call that could write.
  std::function<std::vector<std::string>()> touched_paths{};
  /// Asked before and after each call where it is set: protected names that something has made, and
  /// that were removed since it was last asked. The model is told.
  std::function<std::vector<std::string>()> made_paths{};
  /// Asked after each call that could write, where it is set: protected names that lead through
  /// links elsewhere than at the start, now. The model is told of those that it was not told of.
  std::function<std::vector<std::string>()> led_elsewhere{};
  JudgeOptions judge{};
  /// Of tools that may become others; they stand behind the run's own. May be null.
  ToolSource* source = nullptr;
  WholeOutputs* outputs = nullptr;  ///< keeps the texts that are shown in part; null: nobody does
  std::function<bool(const std::string&)> keeps{};  ///< which of them, by name; not set: all
  std::map<std::string, std::string> absent{};      ///< tools that the run does not have, and why
};

/// The tools of a run: finds the one that is called, checks its arguments, has the engine decide,
/// runs it, and cuts its output. What was decided is told to the event sink before its effect.
class ToolRegistry : public ToolHost {
 public:
  /// @param tools  in the order in which the model is shown them; all but `tools` outlive this
  ToolRegistry(std::vector<std::unique_ptr<Tool>> tools, const Engine& engine, EventSink& events,
               const Redactor& redactor, const Clock& clock, RegistryOptions options = {});
  ~ToolRegistry() override;

  std::vector<ToolSpec> specs() const override;
  CallResult dispatch(const ToolCall& call, int turn, const FitOutput& fit,
                      std::stop_token stop) override;
  /// Takes over what has become of the tools that come from elsewhere. @return  whether anything
  /// has
  bool renew(std::stop_token stop);
  Json origin(const ToolCall& call) const override;
  bool reads_only(const ToolCall& call) const override;
  /// All are judged before the first runs, so that their approvals stand on record before any
  /// output; they run on up to four threads. Nothing but Tool::run is called there.
  void dispatch_together(std::span<const ToolCall> calls, int turn, const FitOutput& fit,
                         const std::function<void(CallResult)>& take,
                         std::stop_token stop) override;
  /// Of all tools, also of those that the model is not shown.
  std::vector<std::string> names() const;

 private:
  struct Entry;
  struct Pending;

  void take_from_source();
  Entry* find(const std::string& name) const;
  std::string unknown_tool(const std::string& name) const;
  void tell_call(const ToolCall& call, int turn);
  /// Decides on a call and puts on record that it came.
  Pending prepare(const ToolCall& call, int turn, std::stop_token stop);
  Pending refuse(const ToolCall& call, int turn, const Decision& decision);
  /// Of a call that can't be told apart: that it came is on record, as all that can't be used.
  Pending unusable(const ToolCall& call, int turn, const std::string& check,
                   const std::string& text);
  /// The end of the run, where a protected path has changed since the last command.
  std::optional<Pending> ended_by_change(const ToolCall& call, int turn);
  Pending misfit(const ToolCall& call, int turn, const std::string& text);
  /// Runs the tool, where the call may run. On any thread.
  void perform(Pending& pending, std::stop_token stop) const;
  void perform_all(std::vector<Pending>& pending, std::stop_token stop) const;
  /// What was made since it was last looked for: told with the next output.
  bool look_for_made_paths();
  std::string note_on_made_paths();
  std::string note_on_led_elsewhere();
  /// Cuts the output, and puts it on record.
  CallResult settle(Pending& pending, const FitOutput& fit);
  CallResult settle_run(Pending& pending, const FitOutput& fit);

  std::vector<std::unique_ptr<Entry>> entries_;
  std::size_t own_ = 0;  ///< of them; the rest is the source's
  const Engine& engine_;
  EventSink& events_;
  const Redactor& redactor_;
  const Clock& clock_;
  RegistryOptions options_;
  CallJudge judge_;
  int denials_ = 0;                      ///< in a row
  std::vector<std::string> made_paths_;  ///< removed, and not yet told to the model
  std::set<std::string> led_elsewhere_;  ///< told to the model, and still so
};

}  // namespace sortie
