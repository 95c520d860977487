#include "tools/commands/exec_command.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/text/shell_quote.h"
#include "core/text/text.h"
#include "policies/engine/typed_input.h"

namespace sortie {
namespace {

using std::chrono::milliseconds;

using Until = ExecSessions::Until;

constexpr std::int64_t kYield = 10'000;
constexpr std::int64_t kShortestYield = 250;
constexpr std::int64_t kLongestYield = 30'000;
constexpr std::int64_t kBytesPerToken = 4;  // roughly, for English text and code

constexpr const char* kExecParameters = R"({
  "type": "object",
  "properties": {
    "cmd": {"type": "string", "minLength": 1, "description": "The shell command to run."},
    "workdir": {"type": "string",
                "description": "Working directory, inside the workspace. Default: the workspace."},
    "shell": {"type": "string", "minLength": 1,
              "description": "bash, the default. Scripts for sh, dash and zsh are run by bash too, since the policy reads them as bash does; another program gets `-c` and the command."},
    "login": {"type": "boolean",
              "description": "Whether to call the shell with -l; it reads no start-up files in any case."},
    "tty": {"type": "boolean",
            "description": "Whether to allocate a terminal (80 columns, 24 rows). Default: false, a pipe."},
    "yield_time_ms": {"type": "integer",
                      "description": "How long to wait for the command before it continues as a session, 250 to 30000. Default: 10000, or until a terminal shows a prompt."},
    "max_output_tokens": {"type": "integer", "minimum": 1,
                          "description": "Maximum output to return. Longer output is cut to its head and tail."}
  },
  "required": ["cmd"],
  "additionalProperties": false
})";

constexpr const char* kWriteParameters = R"({
  "type": "object",
  "properties": {
    "session_id": {"type": "integer", "description": "The session ID returned by exec_command."},
    "chars": {"type": "string",
              "description": "Characters to type; end a line with \"\\n\". Control-C is \"\\u0003\", Control-D \"\\u0004\". Default: none."},
    "kill": {"type": "boolean",
             "description": "Kill the session, if it ignores Control-C. Default: false."},
    "yield_time_ms": {"type": "integer",
                      "description": "How long to wait for the command to end, 250 to 30000. Default: until it prints nothing for 250 ms after input, or shows a prompt; at most 10000."},
    "max_output_tokens": {"type": "integer", "minimum": 1,
                          "description": "Maximum output to return. Longer output is cut to its head and tail."}
  },
  "required": ["session_id"],
  "additionalProperties": false
})";

/// A script for `cmd`: models also send an argv, as for `shell`, or an argv as JSON text.
Json script_of(Json cmd) {
  Json argv = cmd;
  if (cmd.is_string() && trimmed(cmd.text()).starts_with('[')) {
    try {
      argv = parse_json(cmd.text());
    } catch (const JsonError&) {
      return cmd;
    }
  }
  const auto is_text = [](const Json& word) { return word.is_string(); };
  const auto& words = argv.items();
  if (words.empty() || !std::all_of(words.begin(), words.end(), is_text)) return cmd;
  const bool of_shell = words.size() == 3 && is_one_of(words[0].text(), {"bash", "sh"}) &&
                        is_one_of(words[1].text(), {"-c", "-lc"});
  return of_shell ? words[2] : Json(shell_line(argv.texts()));
}

/// The same command as arguments of `shell`.
Json shell_arguments(const Json& arguments) {
  const std::string shell = arguments.string_at("shell");
  Json command = Json::array();
  command.push_back(shell.empty() ? std::string("bash") : shell);
  command.push_back(arguments["login"].boolean() ? "-lc" : "-c");
  command.push_back(arguments.string_at("cmd"));
  Json result = Json::object({{"command", std::move(command)}});
  if (const std::string workdir = arguments.string_at("workdir"); !workdir.empty())
    result.set("workdir", workdir);
  return result;
}

std::size_t shown_bytes(const Json& arguments, std::size_t most) {
  const std::int64_t tokens = arguments.integer_at("max_output_tokens", 0);
  const auto all = static_cast<std::int64_t>(most);
  if (tokens <= 0 || tokens > all / kBytesPerToken) return most;
  return static_cast<std::size_t>(tokens * kBytesPerToken);
}

int session_of(const Json& arguments) {
  const std::int64_t id = arguments.integer_at("session_id");
  return id > 0 && id <= std::numeric_limits<int>::max() ? static_cast<int>(id) : 0;
}

/// "Process running with session ID 3\nWall time: 1.2 seconds\n…Output:\n".
std::string running_head(int id, const ExecSessions::Poll& news) {
  std::string head = "Process running with session ID " + std::to_string(id) + '\n';
  char time[60];
  std::snprintf(time, sizeof time, "Wall time: %.1f seconds\n",
                static_cast<double>(news.age.count()) / 1000);
  head += time;
  if (news.output.left_out_bytes > 0)
    head += "Total output lines: " + std::to_string(news.output.total_lines) + '\n';
  return head + "Output:\n";
}

/// Waits for the session as long as the arguments say, and returns its new output.
/// @param until  what ends the wait early where the arguments name no time
ToolResult poll_session(int id, const Json& arguments, Until until, ExecSessions& sessions,
                        std::size_t most, std::stop_token stop) {
  const std::int64_t asked = arguments.integer_at("yield_time_ms", kYield);
  if (arguments.find("yield_time_ms")) until = Until::end;
  ExecSessions::Poll news =
      sessions.wait(id, milliseconds(std::clamp(asked, kShortestYield, kLongestYield)), until,
                    shown_bytes(arguments, most), std::move(stop));
  ToolResult result;
  if (news.ended) {
    result.head = result_head(*news.ended, news.output, news.command);
    result.success = news.ended->success();
    result.exit = std::move(news.ended);
  } else {
    result.head = running_head(id, news);
  }
  std::vector<std::string> notes;
  if (news.unwritten > 0)
    notes.push_back("the command has not read " + size_in_words(news.unwritten) +
                    " of the input yet");
  if (news.held_back > 0)
    notes.push_back("the last " + size_in_words(news.held_back) +
                    " of the output are held back, since they may be the beginning of a secret");
  result.note = joined(notes, "; ");
  result.collected = std::move(news.output);
  result.session = id;
  result.worked_on_files = true;
  return result;
}

}  // namespace

ExecCommand::ExecCommand(std::unique_ptr<Shell> shell, ExecSessions& sessions,
                         std::size_t shown_output)
    : shell_(std::move(shell)), sessions_(sessions), shown_output_(shown_output) {
  spec_.name = "exec_command";
  spec_.description =
      "Runs a shell command in the sandboxed workspace and returns its output. If it has not ended "
      "after yield_time_ms, it continues as a session and its session ID is returned: use "
      "write_stdin to type into it and to read more output. At most 16 sessions run at once, each "
      "with a time limit; all are killed when you end your turn.";
  spec_.parameters = parse_json(kExecParameters);
}

Json ExecCommand::renamed(Json arguments) const {
  for (auto& [name, value] : arguments.members()) {
    if (name == "command" && !arguments.find("cmd")) name = "cmd";
    if (name == "cmd") value = script_of(std::move(value));
  }
  return arguments;
}

std::vector<Action> ExecCommand::actions(const Json& arguments) const {
  return shell_->actions(shell_arguments(arguments));
}

ToolResult ExecCommand::run(const Json& arguments, std::stop_token stop) {
  const Json call = shell_arguments(arguments);
  if (auto patched = shell_->run_patch(call, stop)) return *patched;
  std::string note;
  Command command = shell_->prepare(call, note);
  const bool terminal = arguments["tty"].boolean();
  command.input = terminal ? CommandInput::terminal : CommandInput::pipe;
  std::vector<std::string> asked;
  for (const Json& word : call["command"].items()) asked.push_back(word.text());
  const int id = sessions_.open(std::move(command), std::move(asked));
  ToolResult result = poll_session(id, arguments, terminal ? Until::prompt : Until::end, sessions_,
                                   shown_output_, std::move(stop));
  if (result.exit) result.session.reset();  // the model never saw a session
  if (!note.empty()) result.note += (result.note.empty() ? "" : "; ") + note;
  return result;
}

WriteStdin::WriteStdin(ExecSessions& sessions, std::size_t shown_output)
    : sessions_(sessions), shown_output_(shown_output) {
  spec_.name = "write_stdin";
  spec_.description =
      "Types characters into a running session of exec_command, or only waits, and returns the "
      "output since the last call. If the session has no terminal, \"\\u0004\" at the end closes "
      "its stdin and \"\\u0003\" kills it. kill: true ends a session that ignores Control-C.";
  spec_.parameters = parse_json(kWriteParameters);
}

std::vector<Action> WriteStdin::actions(const Json& arguments) const {
  const auto session = sessions_.describe(session_of(arguments));
  const std::string typed = arguments.string_at("chars");
  if (typed.empty() || !session.runs) return {};
  std::string input = session.unfinished_line + typed;
  if (session.terminal) input = with_editor_keys_marked(input);
  return {RunCommand{.argv = session.argv, .workdir = session.workdir, .input = std::move(input)}};
}

ToolResult WriteStdin::run(const Json& arguments, std::stop_token stop) {
  const int id = session_of(arguments);
  const std::string typed = arguments.string_at("chars");
  const bool runs = sessions_.describe(id).runs;
  const bool kill = arguments["kill"].boolean();
  if (kill) sessions_.kill(id);
  if (runs && !typed.empty() && !kill) sessions_.type(id, typed);
  const Until until = kill ? Until::end : typed.empty() ? Until::prompt : Until::quiet;
  ToolResult result = poll_session(id, arguments, until, sessions_, shown_output_, std::move(stop));
  if (!runs && !typed.empty()) {
    result.note = "the session had already ended: nothing was written";
    result.success = false;
  }
  return result;
}

}  // namespace sortie
