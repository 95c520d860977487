#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "policies/file/policy_loader.h"
#include "tests/fakes/event_list.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_launcher.h"
#include "tests/fakes/memory_files.h"
#include "tools/commands/shell.h"
#include "tools/files/apply_patch.h"
#include "tools/files/read_file.h"
#include "tools/plain_tools.h"
#include "tools/tool_runner.h"

namespace sortie::test {

/// Runs the calls of one response as the loop does, in a conversation with room for all outputs.
inline std::vector<CallRecord> run_calls(ToolHost& tools, EventSink& events,
                                         std::span<const ToolCall> calls,
                                         std::stop_token stop = {}) {
  std::vector<std::unique_ptr<PendingCall>> pending;
  for (const ToolCall& call : calls) {
    pending.push_back(tools.prepare(call, 1, stop));
    emit_call(events, 1, call, tools.origin(call));
    if (pending.back()->ends_run()) break;
  }
  tools.run(pending, stop);
  std::vector<CallRecord> records;
  for (std::size_t i = 0; i < pending.size(); ++i) {
    records.push_back(pending[i]->finish());
    emit_output(events, 1, calls[i], records.back());
  }
  return records;
}

inline CallRecord run_call(ToolHost& tools, EventSink& events, const ToolCall& call) {
  return run_calls(tools, events, {&call, 1}).at(0);
}

inline bool is_denied(const CallRecord& record) {
  return record.record.verdict == "denied" || record.record.verdict == "forbidden";
}

/// A tool whose actions can't be told.
class Puzzling : public Tool {
 public:
  Puzzling() {
    spec_.name = "git_diff";
    spec_.parameters = parse_json(R"({"type":"object","properties":{}})");
  }
  std::vector<Action> actions(const Json&) const override { throw Error("the disk is gone"); }
  ToolResult run(const Json&, std::stop_token) override { throw Error("was run"); }
};

/// A runner with everything around it in the open.
struct RunnerBench {
  explicit RunnerBench(ToolRunnerOptions options = {})
      : tools(make_tools(), engine, events, redactor, clock, std::move(options)) {
    launcher.answer = [&](const Command&) {
      types_at_start = events.types();
      return FakeLauncher::Answer{"out\n", ExitStatus{}};
    };
  }
  std::vector<std::unique_ptr<Tool>> make_tools() {
    auto apply_patch = std::make_unique<ApplyPatch>(files, "/w");
    std::vector<std::unique_ptr<Tool>> made;
    made.push_back(std::make_unique<Shell>(ShellParts{launcher, files, redactor, apply_patch.get()},
                                           ShellOptions{.workspace = "/w"}));
    made.push_back(std::move(apply_patch));
    made.push_back(std::make_unique<UpdatePlan>());
    made.push_back(std::make_unique<ReadFile>(files, "/w"));
    made.push_back(std::make_unique<Puzzling>());
    return made;
  }
  CallRecord call(const std::string& name, const std::string& arguments,
                  ToolCall::Form form = ToolCall::Form::function) {
    return run_call(tools, events, {"id", name, arguments, form});
  }
  static Policy strict_without_root() {
    Policy policy = load_policy("strict");
    policy.commands.push_back({.effect = Effect::forbid,
                               .prefix = {{"sudo"}},
                               .why = "no root here",
                               .place = {"p.yaml", 7, "forbid: [sudo]"}});
    return policy;
  }

  MemoryFiles files;
  FakeLauncher launcher;
  Redactor redactor{{{"KEY", "s3cr3t-value"}}};
  EventList events;
  FakeClock clock;
  std::vector<std::string> types_at_start;
  Policy policy = strict_without_root();
  Engine engine{policy, Approval::deny_by_default, "/w", "/out", {"/usr/bin", "/bin"}};
  ToolRunner tools;
};

}  // namespace sortie::test
