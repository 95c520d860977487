#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "app/show/event_items.h"
#include "app/show/events_jsonl.h"
#include "core/json/json_schema.h"
#include "core/text/text.h"

namespace sortie::test {

inline constexpr const char* kThread = "01234567-89ab-7cde-8123-456789abcdef";

/// A stream and what it has shown; each line fits the schema.
struct Stream {
  Redactor redactor{{{"A_TOKEN", "s3cr3t-value"}}};
  std::vector<Json> lines;
  EventsJsonl events{{kThread, 5}, redactor, [this](std::string line) { take(line); }};

  void take(const std::string& line) {
    static const JsonSchema schema(event_schema());
    BOOST_TEST(line.find('\n') == line.size() - 1);
    for (const char* other_break : {"\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"})
      BOOST_TEST(line.find(other_break) == std::string::npos);
    lines.push_back(parse_json(line));
    BOOST_TEST(describe(schema.check(lines.back())) == "", line);
  }
  void call(const std::string& id, const std::string& tool, const std::string& arguments,
            Json actions = {}, Json origin = {}, ToolCall::Form form = ToolCall::Form::function) {
    const ToolCall call{id, tool, arguments, form};
    if (actions.is_array())
      events.on(approval_event(1, call, std::move(actions), Json::object({{"decision", "allow"}})));
    events.on(tool_call_event(1, call, std::move(origin)));
  }
  void run(const std::string& id, std::vector<Json> argv, const std::string& tool = "shell") {
    call(id, tool, "{}",
         Json::array({Json::object({{"kind", "call_tool"}, {"name", tool}}),
                      Json::object({{"kind", "run_command"}, {"argv", Json::array(argv)}})}));
  }
  void output(const ToolOutputRecord& record) { events.on(RunEvent{1, record}); }
  void end(ExitCode code = ExitCode::success, const std::string& reason = "done") {
    RunEnd end;
    end.code = code;
    end.reason = reason;
    end.usage = end.durations = end.counts = Json::object();
    events.end(end, {.out = "/out"});
  }
  /// "started item_0 command_execution in_progress", of all lines that are about items.
  std::vector<std::string> story() const {
    std::vector<std::string> list;
    for (const Json& line : lines) {
      const std::string type = line.string_at("type");
      const Json& item = line["item"];
      if (!item.is_object()) continue;
      list.push_back(type.substr(5) + " " + item.string_at("id") + " " + item.string_at("type") +
                     (item.find("status") ? " " + item.string_at("status") : ""));
    }
    return list;
  }
  /// The item of the last line that is about one.
  Json last_item() const {
    Json last;
    for (const Json& line : lines)
      if (line["item"].is_object()) last = line["item"];
    return last;
  }
};

inline ExitStatus exit_of(Ending ending, int code) {
  ExitStatus status;
  status.ending = ending;
  status.code = code;
  return status;
}

inline ToolOutputRecord done(const std::string& id, const std::string& tool,
                             const std::string& output) {
  return {.call_id = id, .tool = tool, .exit = exit_of(Ending::exited, 0), .output = output};
}

inline RunEvent response_event(const std::string& items, Usage usage = {}) {
  return {1, ModelAnswered{.items = parse_json(items), .tokens = usage}};
}

using Lines = std::vector<std::string>;

}  // namespace sortie::test
