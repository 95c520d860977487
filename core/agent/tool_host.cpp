#include "core/agent/tool_host.h"

#include <utility>

namespace sortie {

CallRecord not_run(const ToolCall& call, std::string text, std::string verdict) {
  CallRecord done{.output = {call.call_id, text, false, call.form}};
  done.record.output = std::move(text);
  done.record.verdict = std::move(verdict);
  return done;
}

void emit_call(EventSink& events, int turn, const ToolCall& call, Json origin) {
  events.on(tool_call_event(turn, call, std::move(origin)));
}

void emit_output(EventSink& events, int turn, const ToolCall& call, CallRecord& done) {
  done.record.call_id = call.call_id;
  done.record.tool = call.name;
  done.record.success = done.output.success;
  if (done.output.text != done.record.output) done.record.shown = done.output.text;
  events.on({turn, done.record});
  for (const FileChange& change : done.file_changes) events.on({turn, change});
  if (done.plan) events.on({turn, *done.plan});
}

}  // namespace sortie
